// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The difference between two sequences of objects.
package struct RowsChange: Sendable {
    package let table: TableKey
    /// The positions of deleted, inserted, modified and moved rows.
    package let changes: CollectionChanges
    /// The keys of the rows at `changes.deletions`, in the same order.
    package let deletedKeys: [ObjectKey]
    /// The keys of the rows at `changes.insertions`, in the same order.
    package let insertedKeys: [ObjectKey]
    /// The keys of the rows at `changes.modificationsNew`, in the same order.
    package let modifiedKeys: [ObjectKey]
    /// For each modified row, the properties that were written themselves, in the order of the schema.
    package let modifiedColumns: [[ColumnKey]]
    /// The keys of the rows in `changes.moves`, in the same order.
    package let moveKeys: [ObjectKey]
    /// The number of rows after the change.
    package let count: Int
    /// Whether this is the last change, because the owner of the rows was deleted. The positions may be empty then.
    package internal(set) var isLast = false
}
