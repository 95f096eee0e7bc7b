// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// The tables and columns that a query reads: a change elsewhere cannot change its result.
package struct QueryDependencies: Sendable {
    /// A column of a table, by the leaf index of its key.
    package struct ColumnOfTable: Hashable, Sendable {
        package let table: TableKey
        package let leafIndex: Int

        package init(table: TableKey, leafIndex: Int) {
            self.table = table
            self.leafIndex = leafIndex
        }
    }

    /// The tables whose objects are looked at, the one of the result included.
    package internal(set) var tables: Set<TableKey> = []
    package internal(set) var columns: Set<ColumnOfTable> = []
    /// Does a path lead through mixed values, which may link to any table?
    package internal(set) var mayReachAnyTable = false
}
