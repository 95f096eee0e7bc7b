// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A search in a B+ tree whose elements ascend by some order: sets and the keys of dictionaries.
///
/// It keeps the leaf that it read last, because the last steps of a search are all in one leaf. The
/// order is a closure, so that sets and dictionaries can share this.
struct OrderedSearch {
    /// The place where an element is, or where it would be inserted.
    struct Place {
        /// The position of the element, or where it would be inserted.
        let index: Int
        /// Whether the tree has the element.
        let isPresent: Bool
    }

    private let tree: BPlusTree
    /// The leaf that was read last.
    private var leaf: ColumnLeaf?
    /// The position of the first element of `leaf` in the tree.
    private var start = 0

    /// Makes a search in `tree`, which must not change while it is used.
    init(_ tree: BPlusTree) { self.tree = tree }

    /// Finds an element by halving the tree.
    ///
    /// - Parameter order: Compares the element in `row` with the one that is searched: negative
    ///   when it sorts before it, 0 when they are equal.
    /// - Complexity: O(log n) comparisons, O(depth) for each change of leaf.
    mutating func find(
        _ order: (_ leaf: ColumnLeaf, _ row: Int) throws(StorageError) -> Int
    ) throws(StorageError) -> Place {
        var low = 0
        var high = tree.count
        while low < high {
            let middle = low + (high - low) / 2
            let found = try order(try leaf(holding: middle), middle - start)
            if found == 0 { return Place(index: middle, isPresent: true) }
            if found < 0 { low = middle + 1 } else { high = middle }
        }
        return Place(index: low, isPresent: false)
    }

    /// Finds an element by comparing every one, for trees whose order cannot be relied on. One that
    /// is missing would be inserted before the first that sorts after it.
    ///
    /// - Parameter order: Compares the element in `row` with the one that is searched: negative
    ///   when it sorts before it, 0 when they are equal.
    /// - Complexity: O(n).
    func scan(
        _ order: (_ leaf: ColumnLeaf, _ row: Int) throws(StorageError) -> Int
    ) throws(StorageError) -> Place {
        var cursor = tree.leaves()
        var insertion: Int?
        while let (leaf, start) = try cursor.next() {
            for row in 0..<leaf.count {
                let found = try order(leaf, row)
                if found == 0 { return Place(index: start + row, isPresent: true) }
                if found > 0, insertion == nil { insertion = start + row }
            }
        }
        return Place(index: insertion ?? tree.count, isPresent: false)
    }

    /// Returns the leaf that holds an element, which mostly is the one that was read last.
    private mutating func leaf(holding index: Int) throws(StorageError) -> ColumnLeaf {
        if let leaf, index >= start, index - start < leaf.count { return leaf }
        let place = try tree.place(of: index)
        leaf = place.leaf
        start = place.start
        return place.leaf
    }
}

/// Access to links as they are stored.
extension ColumnLeaf {
    /// Returns the value in `row` with an unresolved link as it is stored, which `value(_:)` reads as null.
    ///
    /// - Throws: `.corrupt` when the value is damaged.
    package func storedValue(_ row: Int) throws(StorageError) -> Value {
        switch self {
        case .link(let links): return links.key(row).isNull ? .null : .link(links.targetTable, links.key(row))
        case .mixed(let values):
            if let link = try values.storedLink(row) { return .link(link.table, link.key) }
            return try values.value(row)
        default: return try value(row)
        }
    }
}
