// SPDX-License-Identifier: Apache-2.0

/// Tests of elements of 1, 2 and 4 bits.
///
/// Words of one-bit fields are masks already. Two-bit fields are tested 32 at a time with ordinary instructions; the result is
/// one bit per field, which `gathered` moves together. Four-bit fields are expanded to bytes for vector instructions.
extension PackedIntegers {
    /// A test of each field against a value, which must be in the range of the width.
    enum NarrowTest {
        /// Passes fields that have this value.
        case equal(Int64)
        /// Passes fields that are greater than this value.
        case greater(Int64)
    }

    /// Returns which of the `count` elements from `start` on, at most 256, pass the test.
    ///
    /// - Parameters:
    ///   - start: The element that bit 0 of the result represents.
    ///   - count: How many elements are tested; all of them must exist.
    func narrowMask(_ test: NarrowTest, _ start: Int, _ count: Int) -> Mask {
        let mask: Mask
        switch (widthCode, test) {
        case (1, .equal(let value)):
            mask = words(count) { fieldWord(atBit: start &+ $0) ^ (value == 1 ? 0 : .max) }
        case (1, .greater):
            mask = words(count) { fieldWord(atBit: start &+ $0) }
        case (2, .equal(let value)):
            mask = words(count) { pairs(start &+ $0) { PackedIntegers.equalPairs($0, value) } }
        case (2, .greater(let value)):
            mask = words(count) { pairs(start &+ $0) { PackedIntegers.greaterPairs($0, value) } }
        case (3, .equal(let value)):
            let needle = ByteLanes(repeating: Int8(truncatingIfNeeded: value))
            mask = words(count) { first in nibbles(start &+ first) { Int8.equal($0, needle) } }
        case (3, .greater(let value)):
            let needle = ByteLanes(repeating: Int8(truncatingIfNeeded: value))
            mask = words(count) { first in nibbles(start &+ first) { Int8.greater($0, needle) } }
        case (_, .equal): return Mask(first: count)
        case (_, .greater): return .none
        }
        return mask & Mask(first: count)
    }

    /// Makes a mask of up to four words; `word` is called with the first of the 64 elements of each.
    @inline(__always)
    private func words(_ count: Int, _ word: (Int) -> UInt64) -> Mask {
        var words = SIMD4<UInt64>.zero
        for group in 0..<4 {
            let first = group &<< 6
            words = SIMD4(words[1], words[2], words[3], first < count ? word(first) : 0)
        }
        return Mask(words: words)
    }

    /// Tests 64 elements of width 2; `test` returns its result in the lower bit of each of 32 fields.
    @inline(__always)
    private func pairs(_ first: Int, _ test: (UInt64) -> UInt64) -> UInt64 {
        PackedIntegers.gathered(test(fieldWord(atBit: first &* 2)), 2)
            | PackedIntegers.gathered(test(fieldWord(atBit: first &* 2 &+ 64)), 2) &<< 32
    }

    /// Tests 64 elements of width 4, as vectors of 16 bytes.
    @inline(__always)
    private func nibbles(_ first: Int, _ test: (ByteLanes) -> ByteLanes) -> UInt64 {
        LanePacking.word(
            of: test(PackedIntegers.bytes(ofNibbles: fieldWord(atBit: first &* 4))),
            test(PackedIntegers.bytes(ofNibbles: fieldWord(atBit: first &* 4 &+ 64))),
            test(PackedIntegers.bytes(ofNibbles: fieldWord(atBit: first &* 4 &+ 128))),
            test(PackedIntegers.bytes(ofNibbles: fieldWord(atBit: first &* 4 &+ 192))))
    }

    /// Expands the sixteen 4-bit fields of a word to bytes, in their order.
    @inline(__always)
    static func bytes(ofNibbles word: UInt64) -> ByteLanes {
        let split = SIMD2<UInt64>(word & 0x0f0f_0f0f_0f0f_0f0f, word &>> 4 & 0x0f0f_0f0f_0f0f_0f0f)
        let bytes = unsafe unsafeBitCast(split, to: ByteLanes.self)
        var lanes = bytes
        lanes.evenHalf = bytes.lowHalf
        lanes.oddHalf = bytes.highHalf
        return lanes
    }

    /// Returns 64 bits of the payload from bit `offset` on; bits after the payload are 0.
    ///
    /// The reads are in bounds: nodes are padded to whole words, and no word after the last one with elements is read.
    @inline(__always)
    func fieldWord(atBit offset: Int) -> UInt64 {
        let wordCount = (count &* width &+ 63) &>> 6
        let index = offset &>> 6
        guard index < wordCount else { return 0 }
        let low = unsafe payload.loadUnaligned(fromByteOffset: index &<< 3, as: UInt64.self)
        let shift = UInt64(truncatingIfNeeded: offset & 63)
        guard shift != 0 else { return low }
        guard index &+ 1 < wordCount else { return low &>> shift }
        let high = unsafe payload.loadUnaligned(fromByteOffset: index &<< 3 &+ 8, as: UInt64.self)
        return low &>> shift | high &<< (64 &- shift)
    }

    /// Returns a word with the lower bit of each two-bit field set that has `value`.
    @inline(__always)
    private static func equalPairs(_ fields: UInt64, _ value: Int64) -> UInt64 {
        let different = fields ^ UInt64(bitPattern: value) &* 0x5555_5555_5555_5555
        return ~(different | different &>> 1) & 0x5555_5555_5555_5555
    }

    /// Returns a word with the lower bit of each two-bit field set that is greater than `value`. A
    /// field is greater than 0 if either bit is set, than 1 if the higher is, than 2 if both are.
    @inline(__always)
    private static func greaterPairs(_ fields: UInt64, _ value: Int64) -> UInt64 {
        let high = fields &>> 1
        let isGreater = value == 0 ? high | fields : value == 1 ? high : high & fields
        return isGreater & 0x5555_5555_5555_5555
    }

    /// Moves the lowest bit of each field of `width` bits together; all other bits of `fields` must be 0.
    @inline(__always)
    static func gathered(_ fields: UInt64, _ width: Int) -> UInt64 {
        var bits = fields
        if width == 2 {
            bits = (bits | bits &>> 1) & 0x3333_3333_3333_3333
            bits = (bits | bits &>> 2) & 0x0f0f_0f0f_0f0f_0f0f
            bits = (bits | bits &>> 4) & 0x00ff_00ff_00ff_00ff
            bits = (bits | bits &>> 8) & 0x0000_ffff_0000_ffff
            bits = (bits | bits &>> 16) & 0x0000_0000_ffff_ffff
        } else if width == 4 {
            bits = (bits | bits &>> 3) & 0x0303_0303_0303_0303
            bits = (bits | bits &>> 6) & 0x000f_000f_000f_000f
            bits = (bits | bits &>> 12) & 0x0000_00ff_0000_00ff
            bits = (bits | bits &>> 24) & 0x0000_0000_0000_ffff
        }
        return bits
    }
}
