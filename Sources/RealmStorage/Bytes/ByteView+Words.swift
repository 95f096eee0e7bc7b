// SPDX-License-Identifier: Apache-2.0

extension ByteView {
    /// Calls `body` with eight bytes at a time, little endian; the last word is filled up with zeros.
    @inlinable package func forEachWord(_ body: (UInt64) -> Void) {
        guard let start else { return }
        let bytes = UnsafeRawPointer(start)
        var index = 0
        while index + 8 <= count {
            // In bounds by the condition of the loop.
            body(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
            index += 8
        }
        guard index < count else { return }
        var word: UInt64 = 0
        for offset in index..<count { word |= UInt64(start[offset]) << UInt64(8 * (offset - index)) }
        body(word)
    }
}
