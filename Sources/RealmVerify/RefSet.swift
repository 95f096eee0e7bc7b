// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A set of refs below a limit, with one bit for each place where a node can begin.
///
/// That is less memory than a hash table takes for a file that consists mostly of nodes.
struct RefSet {
    /// The bits, one for every eight bytes of the file.
    private var words: [UInt64]

    /// Makes an empty set for refs below `limit`, the size of the file in bytes.
    init(limit: UInt64) { words = Array(repeating: 0, count: Int(clamping: limit >> 9) + 1) }

    /// Adds the ref of a node; returns false when it was in the set already.
    ///
    /// Refs at or beyond the limit are not added, and false is returned for them as well.
    mutating func insert(_ ref: Ref) -> Bool {
        let bit = ref.rawValue >> 3
        let word = Int(bit >> 6)
        let mask: UInt64 = 1 << (bit & 63)
        guard word < words.count, words[word] & mask == 0 else { return false }
        words[word] |= mask
        return true
    }
}
