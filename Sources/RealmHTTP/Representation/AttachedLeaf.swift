// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One leaf of a class, whose single-valued columns are attached when they are first read.
///
/// Answers read row after row of the same leaf, so a column is checked and attached once per leaf
/// rather than once per value.
final class AttachedLeaf {
    /// The class of the objects in the leaf.
    let table: Table
    /// The leaf of the class's object tree whose columns are attached here.
    private let leaf: ClusterLeaf
    /// For each column of `table` its values; nil for those that were not read yet.
    private var columns: [AttachedColumn?]

    /// Creates a leaf none of whose columns were read.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - leaf: The leaf.
    init(_ table: Table, _ leaf: ClusterLeaf) {
        self.table = table
        self.leaf = leaf
        columns = Array(repeating: nil, count: table.columns.count)
    }

    /// Returns whether this is a given leaf. Leaves are compared by their refs and the object keys
    /// that they begin with.
    @inline(__always) func isOf(_ table: Table, _ leaf: ClusterLeaf) -> Bool {
        self.table === table && self.leaf.node.ref == leaf.node.ref && self.leaf.offset == leaf.offset
    }

    /// Returns the value of a single-valued column.
    ///
    /// - Parameters:
    ///   - position: The position of the column in `table.columns`.
    ///   - row: The position in the leaf, from 0.
    /// - Throws: `StorageError` for a damaged file.
    @inline(__always) func value(_ position: Int, _ row: Int) throws(StorageError) -> Value {
        if let column = columns[position] { return try column.value(row) }
        return try attach(position).value(row)
    }

    /// Attaches a column and remembers it. Kept apart from `value(_:_:)`, so that the frequent case
    /// stays short.
    @inline(never) private func attach(_ position: Int) throws(StorageError) -> AttachedColumn {
        let column = AttachedColumn(try leaf.attach(table.columns[position]))
        columns[position] = column
        return column
    }
}
