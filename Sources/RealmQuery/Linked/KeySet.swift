// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A set of objects of a class with one bit for each key up to the greatest one.
struct KeySet {
    /// The places of keys among the bits.
    private let keys: CompactKeys
    /// The bits, 64 keys to a word, the lowest keys first.
    private var words: [UInt64]

    /// Makes an empty set for the objects of a class, of which it takes one bit for each number that a key may have.
    init(of keys: CompactKeys) {
        self.keys = keys
        words = [UInt64](repeating: 0, count: keys.count >> 6 + 1)
    }

    /// Whether a key is in the set; keys beyond those of the class are not.
    @inline(__always) func contains(_ key: ObjectKey) -> Bool {
        guard let number = keys.number(of: key) else { return false }
        return words[number >> 6] >> UInt64(truncatingIfNeeded: number & 63) & 1 == 1
    }

    /// Adds objects of a leaf.
    ///
    /// - Returns: Whether there was a place for each of them. That is not so where keys are spread in another way than the greatest one.
    mutating func insert(_ rows: Mask, of leaf: ClusterLeaf) -> Bool {
        var isComplete = true
        rows.forEach { row in
            guard let number = keys.number(of: leaf.key(at: row)) else {
                isComplete = false
                return
            }
            words[number >> 6] |= 1 << UInt64(truncatingIfNeeded: number & 63)
        }
        return isComplete
    }
}
