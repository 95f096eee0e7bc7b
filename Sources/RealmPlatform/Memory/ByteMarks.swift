// SPDX-License-Identifier: Apache-2.0

/// One bit for every eight bytes of a file. It takes memory only where something is marked.
///
/// It is used to find nodes that share bytes: all nodes of a file are marked one after another, and the first that meets a mark
/// is damage. For a file of n bytes it takes at most n / 64 bytes of memory.
///
/// Not Sendable: it belongs to the thread that marks.
@safe package final class ByteMarks {
    /// One word for 512 bytes of the file; zero pages take no memory.
    private let words: UnsafeMutablePointer<UInt64>
    /// The size of the reserved range in bytes.
    private let byteCount: Int

    /// Makes room for marks on the bytes of a file of `limit` bytes. Addresses are reserved; memory is taken as marks are made.
    ///
    /// - Throws: `.io` when there are no addresses.
    package init(byteCount limit: UInt64) throws(StorageError) {
        byteCount = ReservedMemory.wholePages(Int(clamping: limit >> 6) + 8)
        unsafe words = try unsafe System.mapAnonymous(byteCount: byteCount).assumingMemoryBound(to: UInt64.self)
    }

    deinit { unsafe System.unmap(UnsafeMutableRawPointer(words), byteCount: byteCount) }

    /// Returns whether none of some bytes is marked. It takes no memory.
    ///
    /// - Parameters:
    ///   - start: The first byte, a multiple of 8 inside the file.
    ///   - end: The byte after the last one, a multiple of 8 not beyond the file.
    package func isUnmarked(_ start: UInt64, _ end: UInt64) -> Bool {
        var bit = start >> 3
        let last = end >> 3
        while bit < last {
            let count: UInt64 = min(64 - bit & 63, last - bit)
            // In bounds as in `mark`.
            guard unsafe words[Int(bit >> 6)] & ByteMarks.mask(bit & 63, count) == 0 else { return false }
            bit += count
        }
        return true
    }

    /// Returns a mask of some bits of a word.
    private static func mask(_ first: UInt64, _ count: UInt64) -> UInt64 {
        (count == 64 ? UInt64.max : (UInt64(1) << count) - 1) << first
    }

    /// Marks some bytes.
    ///
    /// - Parameters:
    ///   - start: The first byte, a multiple of 8 inside the file.
    ///   - end: The byte after the last one, a multiple of 8 not beyond the file.
    /// - Returns: False when one of them was marked before.
    package func mark(_ start: UInt64, _ end: UInt64) -> Bool { markUnmarked(start, end) == end }

    /// Marks some bytes up to the first one that was marked before, or fewer, so that no byte is ever marked twice.
    ///
    /// - Parameters:
    ///   - start: The first byte, a multiple of 8 inside the file.
    ///   - end: The byte after the last one, a multiple of 8 not beyond the file.
    /// - Returns: The byte after the last one that was marked; `end` when none was marked before.
    /// - Complexity: Linear in the number of bytes that were marked now.
    package func markUnmarked(_ start: UInt64, _ end: UInt64) -> UInt64 {
        var bit = start >> 3
        let last = end >> 3
        while bit < last {
            let offset: UInt64 = bit & 63
            let count: UInt64 = min(64 - offset, last - bit)
            let mask = ByteMarks.mask(offset, count)
            // In bounds: there is a word for the last byte of the file, and `end` is not beyond it.
            let word = Int(bit >> 6)
            guard unsafe words[word] & mask == 0 else { break }
            unsafe words[word] |= mask
            bit += count
        }
        return bit << 3
    }
}
