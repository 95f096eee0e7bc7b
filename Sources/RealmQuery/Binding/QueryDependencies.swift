// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The tables and columns that a query reads. A change elsewhere cannot change its result.
package struct QueryDependencies: Sendable {
    /// A column of a table, identified by the leaf index of its key.
    package struct ColumnOfTable: Hashable, Sendable {
        /// The key of the table that has the column.
        package let table: TableKey
        /// The position of the column in the cluster leaves of the table.
        package let leafIndex: Int

        /// Creates the identity of a column from the key of its table and its position in the leaves.
        package init(table: TableKey, leafIndex: Int) {
            self.table = table
            self.leafIndex = leafIndex
        }
    }

    /// The tables whose objects are tested, including that of the result.
    package internal(set) var tables: Set<TableKey> = []
    package internal(set) var columns: Set<ColumnOfTable> = []
    /// Whether a path leads through mixed values, which may link to any table. Then every change may change the result.
    package internal(set) var mayReachAnyTable = false

    /// Adds what another query reads.
    mutating func formUnion(_ other: QueryDependencies) {
        tables.formUnion(other.tables)
        columns.formUnion(other.columns)
        mayReachAnyTable = mayReachAnyTable || other.mayReachAnyTable
    }
}
