// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Collects the tables and columns that a query reads, while its paths are resolved.
///
/// Most queries are bound for one request, and only observers ask what they depend on, so sets are made then. It is an object because
/// copies of a path resolver share it.
final class DependencyRecorder {
    /// The tables so far; few are there twice.
    private var tables: [TableKey] = []
    /// The columns so far; few are there twice.
    private var columns: [QueryDependencies.ColumnOfTable] = []
    /// Whether a path leads through mixed values.
    private var mayReachAnyTable = false

    /// The number of last entries that are compared with a new one.
    private static let comparedCount = 8

    /// The tables and columns that were recorded so far.
    var dependencies: QueryDependencies {
        var dependencies = QueryDependencies()
        dependencies.tables = Set(tables)
        dependencies.columns = Set(columns)
        dependencies.mayReachAnyTable = mayReachAnyTable
        return dependencies
    }

    /// Records that the objects of a table are tested.
    func add(_ table: Table) {
        if !tables.suffix(DependencyRecorder.comparedCount).contains(table.key) { tables.append(table.key) }
    }

    /// Records that a column of a table is read, and so the table, too.
    func add(_ column: Column, of table: Table) {
        add(table)
        let place = QueryDependencies.ColumnOfTable(table: table.key, leafIndex: column.leafIndex)
        if !columns.suffix(DependencyRecorder.comparedCount).contains(place) { columns.append(place) }
    }

    /// Records that a path leads through mixed values, which may hold a link to any table.
    func addAnyTable() { mayReachAnyTable = true }
}
