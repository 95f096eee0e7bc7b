// SPDX-License-Identifier: Apache-2.0

/// Finds places in a B+ tree whose elements ascend by some order: sets and the keys of dictionaries.
///
/// Keeps the leaf that it looked at last, because the last steps of a search are all in one leaf. The order is a closure, so that
/// sets and dictionaries can share this.
struct OrderedSearch {
    /// Where an element is, or would be.
    struct Place {
        /// The position of the element, or where it would go.
        let index: Int
        /// Whether it is there.
        let isPresent: Bool
    }

    /// The tree that is searched.
    private let tree: BPlusTree
    /// The leaf that was looked at last.
    private var leaf: ColumnLeaf?
    /// The position of the first element of the leaf.
    private var start = 0

    /// A search in `tree`, which must not change meanwhile.
    init(_ tree: BPlusTree) { self.tree = tree }

    /// Halves the tree. `order` says how an element sorts against the one that is wanted.
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

    /// Looks at every element, for trees whose order cannot be relied on. An element that is not there would be before
    /// the first that sorts after it.
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

    /// The leaf with an element; searches mostly stay in one leaf.
    private mutating func leaf(holding index: Int) throws(StorageError) -> ColumnLeaf {
        if let leaf, index >= start, index - start < leaf.count { return leaf }
        let place = try tree.place(of: index)
        leaf = place.leaf
        start = place.start
        return place.leaf
    }
}

/// Links as they are stored.
extension ColumnLeaf {
    /// The value in `row` with an unresolved link as it is stored, which `value(_:)` reads as null.
    func storedValue(_ row: Int) throws(StorageError) -> Value {
        switch self {
        case .link(let links): return links.key(row).isNull ? .null : .link(links.targetTable, links.key(row))
        case .mixed(let values):
            if let link = try values.storedLink(row) { return .link(link.table, link.key) }
            return try values.value(row)
        default: return try value(row)
        }
    }
}
