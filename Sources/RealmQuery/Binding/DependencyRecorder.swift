// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Collects dependencies while paths are resolved.
final class DependencyRecorder {
    private(set) var dependencies = QueryDependencies()

    /// The objects of a table are looked at.
    func add(_ table: Table) { dependencies.tables.insert(table.key) }

    /// A column of a table is read.
    func add(_ column: Column, of table: Table) {
        add(table)
        dependencies.columns.insert(.init(table: table.key, leafIndex: column.leafIndex))
    }

    /// A path leads through mixed values, which may hold a link to any table.
    func addAnyTable() { dependencies.mayReachAnyTable = true }
}
