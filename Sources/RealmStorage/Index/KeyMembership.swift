// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A set of object keys, tested one by one.
package struct KeyMembership: Sendable {
    /// A bit for each key; nil where the keys are too far apart for that.
    private let bits: KeyBitmap?
    /// The keys, ascending; empty where there are bits.
    private let keys: [ObjectKey]

    /// Prepares tests; throws `.corrupt` for a damaged list.
    ///
    /// - Parameter list: The keys, ascending.
    package init(_ list: IndexedKeys) throws(StorageError) {
        guard let bounds = try list.bounds(),
            var bits = KeyBitmap(from: bounds.first, through: bounds.last, forKeys: list.count)
        else {
            self.bits = nil
            keys = try list.all()
            return
        }
        try bits.insert(list)
        keys = []
        self.bits = bits
    }

    /// The memory that the keys take here, at most that of a list of them.
    package var byteCount: Int { bits?.byteCount ?? keys.count * MemoryLayout<ObjectKey>.stride }

    /// The keys as a list in memory, which is made anew.
    package var list: IndexedKeys { IndexedKeys(bits?.keys ?? keys) }

    /// Whether a key is among them.
    package func contains(_ key: ObjectKey) -> Bool {
        if let bits { return bits.contains(key) }
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key
    }
}
