// SPDX-License-Identifier: Apache-2.0

/// The keys of the objects that a search index files under one value, ascending: their number is known at once, the keys are
/// read when they are needed.
package struct IndexedKeys: Sendable {
    private enum Source: Sendable {
        case keys([ObjectKey])
        case list(BPlusTree)
    }

    private let source: Source

    /// Keys that are known already.
    package init(_ keys: [ObjectKey]) { source = .keys(keys) }

    /// The list of an index entry.
    init(_ list: BPlusTree) { source = .list(list) }

    package var count: Int {
        switch source {
        case .keys(let keys): return keys.count
        case .list(let tree): return tree.count
        }
    }

    /// All keys.
    package func all() throws(StorageError) -> [ObjectKey] {
        switch source {
        case .keys(let keys): return keys
        case .list(let tree): return try tree.objectKeys()
        }
    }

    /// Up to `limit` keys from `index` on, which is below `count`: fewer where a leaf of the list ends, but one at least.
    package func piece(from index: Int, atMost limit: Int) throws(StorageError) -> [ObjectKey] {
        switch source {
        case .keys(let keys): return Array(keys[index...].prefix(limit))
        case .list(let tree):
            guard index < tree.count else { return [] }
            let place = try tree.place(of: index)
            guard case .int(let leaf) = place.leaf else { return [] }
            let end = min(place.row + limit, leaf.count)
            var keys: [ObjectKey] = []
            keys.reserveCapacity(end - place.row)
            for row in place.row..<end {
                guard case .int(let number) = leaf.value(row) else { continue }
                keys.append(ObjectKey(number))
            }
            return keys
        }
    }

    /// Where the first key after `key` is. O(log² n).
    package func firstIndex(after key: ObjectKey) throws(StorageError) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            guard let found = try piece(from: middle, atMost: 1).first, found <= key else {
                high = middle
                continue
            }
            low = middle + 1
        }
        return low
    }
}
