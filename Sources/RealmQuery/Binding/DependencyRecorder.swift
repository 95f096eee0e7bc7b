// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Collects the tables and columns that a query reads, while its paths are resolved.
///
/// It is an object because copies of a path resolver share it.
final class DependencyRecorder {
    /// The tables and columns that were recorded so far.
    private(set) var dependencies = QueryDependencies()

    /// Records that the objects of a table are tested.
    func add(_ table: Table) { dependencies.tables.insert(table.key) }

    /// Records that a column of a table is read, and so the table, too.
    func add(_ column: Column, of table: Table) {
        add(table)
        dependencies.columns.insert(.init(table: table.key, leafIndex: column.leafIndex))
    }

    /// Records that a path leads through mixed values, which may hold a link to any table.
    func addAnyTable() { dependencies.mayReachAnyTable = true }
}
