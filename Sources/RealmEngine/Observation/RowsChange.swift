// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// The difference between two sequences of objects.
package struct RowsChange: Sendable {
    /// The class of the rows.
    package let table: TableKey
    /// The positions.
    package let changes: CollectionChanges
    /// One for each of `changes.deletions`, and so on.
    package let deletedKeys: [ObjectKey]
    /// One for each of `changes.insertions`.
    package let insertedKeys: [ObjectKey]
    /// One for each of `changes.modificationsNew`.
    package let modifiedKeys: [ObjectKey]
    /// The columns of each modified object that were written themselves, in the order of the schema.
    package let modifiedColumns: [[ColumnKey]]
    /// One for each of `changes.moves`.
    package let moveKeys: [ObjectKey]
    /// How many rows there are now.
    package let count: Int
    /// Nothing will follow. Of a result that had no rows when its owner was deleted, that is all that there is to say.
    package internal(set) var isLast = false
}
