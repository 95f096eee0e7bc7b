// SPDX-License-Identifier: Apache-2.0

/// Tests whether a pattern may occur in the texts of a short leaf, by its first two bytes, eight positions at a time.
///
/// A few instructions exclude most short lists of texts. Where the pattern may occur, the texts have to be tested.
package struct PairFilter: Sendable {
    /// The first byte of the pattern in each byte of a word, in two spellings.
    private let heads: (UInt64, UInt64)
    /// The second byte in the same way.
    private let nexts: (UInt64, UInt64)
    /// Whether the pattern has a second byte.
    private let hasNext: Bool

    /// A word with 1 in each byte.
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    /// A word with the highest bit of each byte set.
    private static let highest: UInt64 = 0x8080_8080_8080_8080

    /// Makes a filter; nil for a pattern without bytes, which is part of every text.
    package init?(_ pattern: BytePattern) {
        guard let head = pattern.first.first else { return nil }
        heads = (UInt64(head) &* PairFilter.ones, UInt64(pattern.second[0]) &* PairFilter.ones)
        hasNext = pattern.count > 1
        nexts =
            hasNext
            ? (UInt64(pattern.first[1]) &* PairFilter.ones, UInt64(pattern.second[1]) &* PairFilter.ones) : (0, 0)
    }

    /// Returns whether the pattern may occur in the bytes of a node.
    @inline(__always)
    func mayOccur(in node: Node) -> Bool {
        let byteCount = node.payloadByteCount
        var carry: UInt64 = 0
        var offset = 0
        while offset < byteCount {
            // In bounds: nodes end at multiples of eight bytes, and what is behind the payload only lets more pass.
            let word = unsafe UInt64(littleEndian: node.payload.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let found = PairFilter.bytes(word, heads)
            guard hasNext else {
                if found != 0 { return true }
                offset &+= 8
                continue
            }
            if (found &<< 8 | carry) & PairFilter.bytes(word, nexts) != 0 { return true }
            carry = found &>> 56
            offset &+= 8
        }
        return false
    }

    /// Returns the highest bit of each byte of a word that equals one of two, and perhaps of some behind it.
    @inline(__always)
    private static func bytes(_ word: UInt64, _ wanted: (UInt64, UInt64)) -> UInt64 {
        zeros(word ^ wanted.0) | zeros(word ^ wanted.1)
    }

    /// Returns the highest bit of each byte that is zero, and perhaps of some behind it.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highest }
}
