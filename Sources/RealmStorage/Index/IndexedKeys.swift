// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The keys of the objects that a search index files under one value, ascending.
///
/// Their number is known at once; the keys are read when they are needed. It borrows from its snapshot.
package struct IndexedKeys: Sendable {
    /// The place where the keys are.
    private enum Source: Sendable {
        /// The keys are in memory, because they were compared with the objects.
        case keys([ObjectKey])
        /// The list of an index entry, read a leaf at a time.
        case list(BPlusTree)
    }

    /// The place where the keys of this value are.
    private let source: Source

    /// Makes a value of keys that are in memory, in ascending order.
    package init(_ keys: [ObjectKey]) { source = .keys(keys) }

    /// Makes a value of the list of an index entry.
    init(_ list: BPlusTree) { source = .list(list) }

    /// Whether the keys take memory here, and are not read from the index.
    package var areInMemory: Bool {
        if case .keys = source { return true }
        return false
    }

    /// How many objects are filed under the value; it is known without reading their keys.
    package var count: Int {
        switch source {
        case .keys(let keys): return keys.count
        case .list(let tree): return tree.count
        }
    }

    /// Returns all keys, in ascending order.
    ///
    /// - Parameter budget: The nodes that may be visited in a walk over several lists, which share it; nil for a walk over this one alone.
    /// - Complexity: O(count), in time and memory.
    package func all(within budget: WalkBudget? = nil) throws(StorageError) -> [ObjectKey] {
        switch source {
        case .keys(let keys): return keys
        case .list(let tree): return try tree.objectKeys(within: budget)
        }
    }

    /// Returns some keys from `index` on, which must be below `count`: at least one and up to
    /// `limit`, but none past the end of a leaf of the list.
    ///
    /// - Throws: `.corrupt` when the list does not have the key.
    /// - Parameters:
    ///   - index: The position of the first key.
    ///   - limit: The greatest number of keys to return.
    package func piece(from index: Int, atMost limit: Int) throws(StorageError) -> [ObjectKey] {
        switch source {
        case .keys(let keys): return Array(keys[index...].prefix(limit))
        case .list(let tree):
            guard index < tree.count else { return [] }
            let place = try tree.place(of: index)
            guard case .int(let leaf) = place.leaf else { return [] }
            return (place.row..<place.row + min(limit, leaf.count - place.row)).map { ObjectKey(leaf.elements[$0]) }
        }
    }

    /// Returns the index of the first key after `key`; `count` when there is none.
    ///
    /// - Complexity: O(log n) comparisons.
    package func firstIndex(after key: ObjectKey) throws(StorageError) -> Int {
        switch source {
        case .keys(let keys):
            var (low, high) = (0, keys.count)
            while low < high {
                let middle = (low + high) / 2
                if keys[middle] <= key { low = middle + 1 } else { high = middle }
            }
            return low
        case .list(let tree):
            var search = OrderedSearch(tree)
            let place = try search.find { (leaf, row) throws(StorageError) in
                guard case .int(let integers) = leaf, ObjectKey(integers.elements[row]) <= key else { return 1 }
                return -1
            }
            return place.index
        }
    }

    /// Calls a closure with the keys as numbers, run after run in their order.
    ///
    /// - Parameters:
    ///   - budget: The nodes that may be visited in a walk over several lists, which share it; nil for a walk over this one alone.
    ///   - body: Uses a run, which is valid only during the call.
    /// - Throws: `.corrupt` for a damaged list.
    func forEachRun(within budget: WalkBudget?, _ body: (Span<Int64>) -> Void) throws(StorageError) {
        switch source {
        case .keys(let keys):
            let numbers = keys.map(\.rawValue)
            body(numbers.span)
        case .list(let tree):
            var leaves = tree.leaves(within: budget)
            while let (leaf, _) = try leaves.next() {
                guard case .int(let integers) = leaf else { continue }
                for start in stride(from: 0, to: integers.count, by: Mask.capacity) {
                    integers.elements.withUnpacked(start: start, count: min(integers.count - start, Mask.capacity)) { body($0) }
                }
            }
        }
    }

    /// Returns the first and the last key; nil for no keys.
    ///
    /// - Throws: `.corrupt` for a damaged list.
    func bounds() throws(StorageError) -> (first: ObjectKey, last: ObjectKey)? {
        guard count > 0 else { return nil }
        let first = try piece(from: 0, atMost: 1)
        let last = try piece(from: count - 1, atMost: 1)
        guard let least = first.first, let greatest = last.first else { return nil }
        return (least, greatest)
    }
}
