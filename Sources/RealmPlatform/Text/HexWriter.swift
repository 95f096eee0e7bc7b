// SPDX-License-Identifier: Apache-2.0

/// Hex digits of integers, written into memory.
///
/// Eight digits are made at a time with arithmetic on a word, without a table.
package enum HexWriter {
    /// Writes the lower-case digits of the `byteCount` low bytes of `word`, most significant first.
    ///
    /// - Parameters:
    ///   - byteCount: How many of its bytes are written, at most 8.
    ///   - target: Room for twice as many bytes.
    package static func write(_ word: UInt64, byteCount: Int, to target: WritableBytes) {
        target.require(byteCount * 2)
        var offset = 0
        var left = byteCount
        while left >= 4 {
            left &-= 4
            target.store(digits(UInt32(truncatingIfNeeded: word >> UInt64(left &* 8))), at: offset)
            offset &+= 8
        }
        guard left > 0 else { return }
        // Fewer than eight digits are left, which are the first ones of a word.
        var rest = digits(UInt32(truncatingIfNeeded: word) << UInt32((4 &- left) &* 8)).littleEndian
        for _ in 0..<left {
            target.store(UInt16(truncatingIfNeeded: rest), at: offset)
            rest >>= 16
            offset &+= 2
        }
    }

    /// Returns the eight digits of a word in the order of memory: each of its bytes is spread over
    /// two, and all are made characters at once.
    @inline(__always) private static func digits(_ word: UInt32) -> UInt64 {
        var spread = UInt64(word.byteSwapped)
        spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff
        spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff
        spread = spread >> 4 & 0x000f_000f_000f_000f | (spread & 0x000f_000f_000f_000f) << 8
        // The value 1 in each byte that is 10 or more.
        let isLetter = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (spread &+ 0x3030_3030_3030_3030 &+ isLetter &* 39).littleEndian
    }
}
