// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Reads values of one column, keeping the leaf that was attached last: rows that are read one after another mostly
/// lie in the same leaf.
final class ColumnReader {
    let column: Column
    private var leafRef = Ref.none
    private var values: ColumnLeaf?
    private var refs: Node?

    init(_ column: Column) { self.column = column }

    /// The value of a single-valued column.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        try values(of: row.leaf).value(row.index)
    }

    /// The values of a leaf.
    func values(of leaf: ClusterLeaf) throws(StorageError) -> ColumnLeaf {
        if leafRef == leaf.node.ref, let values { return values }
        let attached = try leaf.attach(column)
        leafRef = leaf.node.ref
        values = attached
        return attached
    }

    /// What a collection or backlink column holds for a row.
    func slot(_ row: borrowing Row) throws(StorageError) -> Node.Slot {
        if leafRef != row.leaf.node.ref || refs == nil {
            refs = try row.leaf.attachRefs(column)
            leafRef = row.leaf.node.ref
        }
        return try refs?.slot(row.index) ?? .none
    }

    /// The root of the row's collection, `Ref.none` when it is empty.
    func root(_ row: borrowing Row) throws(StorageError) -> Ref {
        switch try slot(row) {
        case .none: return .none
        case .ref(let ref): return ref
        case .tagged: throw row.leaf.node.corrupt("a number where a collection of '\(column.name)' belongs")
        }
    }
}

/// Finds objects of one table, keeping the leaf that was found last.
final class ObjectFinder {
    let table: Table
    private var last: ClusterLeaf?

    init(_ table: Table) { self.table = table }

    /// The object with `key`, or nil when there is none.
    func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        guard key.rawValue >= 0 else { return nil }
        if let last, let row = last.row(of: key) { return Row(leaf: last, index: row) }
        guard let row = try table.find(key) else { return nil }
        last = row.leaf
        return row
    }
}
