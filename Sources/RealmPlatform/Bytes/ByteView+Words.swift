// SPDX-License-Identifier: Apache-2.0

/// Whole texts as words, for hashing them eight bytes at a time.
extension ByteView {
    /// Calls `body` with eight bytes at a time as little-endian numbers; the last one is padded with zeros.
    @inlinable package func forEachWord(_ body: (UInt64) -> Void) {
        guard let start = unsafe start else { return }
        let bytes = unsafe UnsafeRawPointer(start)
        var index = 0
        while index + 8 <= count {
            // In bounds by the condition of the loop.
            unsafe body(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
            index += 8
        }
        guard index < count else { return }
        var word: UInt64 = 0
        for offset in index..<count { unsafe word |= UInt64(start[offset]) << UInt64(8 * (offset - index)) }
        body(word)
    }

    /// Whether all bytes are below 128.
    package var isASCII: Bool {
        var joined: UInt64 = 0
        forEachWord { joined |= $0 }
        return joined & 0x8080_8080_8080_8080 == 0
    }
}

/// The first bytes of texts as words, for sorting and comparing most texts without a loop.
extension ByteView {
    /// Returns the eight bytes from `offset` on as a big-endian number, so that numbers sort as the
    /// bytes do; bytes after the end are 0.
    @inlinable package func word(at offset: Int) -> UInt64 {
        guard let start = unsafe start, offset >= 0, offset < count else { return 0 }
        if count - offset >= 8 {
            // In bounds by the line before.
            return unsafe UInt64(bigEndian: UnsafeRawPointer(start + offset).loadUnaligned(as: UInt64.self))
        }
        var word: UInt64 = 0
        for index in offset..<count { unsafe word |= UInt64(start[index]) &<< UInt64(56 &- 8 &* (index &- offset)) }
        return word
    }

    /// Returns a mask whose highest `byteCount` bytes are all ones, for words that have fewer than eight bytes of a text.
    @inlinable @inline(__always) package static func leadingOnes(byteCount: Int) -> UInt64 {
        byteCount >= 8 ? .max : ~(UInt64.max &>> UInt64(truncatingIfNeeded: Swift.max(byteCount, 0) &* 8))
    }
}
