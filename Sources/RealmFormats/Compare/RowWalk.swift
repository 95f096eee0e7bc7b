// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A place in the walk over the objects of a table in the order of their keys.
struct RowWalk {
    let table: Table
    /// The cursor behind the present leaf.
    private var cursor: ClusterCursor
    /// The leaf of the next object; nil at the end.
    private(set) var leaf: ClusterLeaf?
    /// The objects of the leaf that come next.
    private var rest = Mask.none

    /// Begins at the first object that is shown.
    init(_ table: Table) throws(StorageError) {
        self.table = table
        cursor = table.leaves()
        try skipLeaf()
    }

    /// The next object; nil at the end.
    var row: Row? {
        guard let leaf, let index = rest.first else { return nil }
        return Row(leaf: leaf, index: index)
    }

    /// The present leaf if none of its objects was left behind or is hidden; nil otherwise.
    var wholeLeaf: ClusterLeaf? {
        guard let leaf, rest == leaf.allRows else { return nil }
        return leaf
    }

    /// Leaves the next object behind.
    mutating func skip() throws(StorageError) {
        if let index = rest.first { rest[index] = false }
        if rest.isEmpty { try skipLeaf() }
    }

    /// Continues with the next leaf that has objects.
    mutating func skipLeaf() throws(StorageError) {
        repeat {
            leaf = try cursor.next()
            guard let leaf else { return }
            rest = leaf.allRows
            if let rule = table.rule { rest = rest & (try rule.shown(in: leaf)) }
        } while rest.isEmpty
    }
}

extension ClusterLeaf {
    /// Returns whether two leaves have objects with the same keys.
    func hasSameKeys(as other: ClusterLeaf) -> Bool {
        count == other.count && (0..<count).allSatisfy { key(at: $0) == other.key(at: $0) }
    }
}

extension ObjectKey {
    /// Returns whether the key comes before another in the tree of objects.
    func isBefore(_ other: ObjectKey) -> Bool { UInt64(bitPattern: rawValue) < UInt64(bitPattern: other.rawValue) }
}
