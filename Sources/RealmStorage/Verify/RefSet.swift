// SPDX-License-Identifier: Apache-2.0

/// A set of refs below a limit, one bit each.
///
/// A set of marks that needs one bit for each place where a node can begin, which is less than a hash table takes for a file that
/// is mostly nodes.
struct RefSet {
    /// One bit for every eight bytes.
    private var words: [UInt64]

    /// A set for refs below `limit`, the size of the file in bytes.
    init(limit: UInt64) { words = Array(repeating: 0, count: Int(clamping: limit >> 9) + 1) }

    /// Adds a ref of a node that exists; false when it was there already.
    mutating func insert(_ ref: Ref) -> Bool {
        let bit = ref.rawValue >> 3
        let word = Int(bit >> 6)
        let mask: UInt64 = 1 << (bit & 63)
        guard word < words.count, words[word] & mask == 0 else { return false }
        words[word] |= mask
        return true
    }
}
