// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The difference between two states of a result that is divided into sections, with keys.
package struct SectionedChange: Sendable {
    /// The key of the table whose objects are the rows.
    package let table: TableKey
    /// The positions of sections and rows.
    package let changes: SectionChanges
    /// The keys of the sections at `changes.sectionsToDelete`, in the same order.
    package let deletedSections: [SectionIdentity]
    /// The keys of the sections at `changes.sectionsToInsert`, in the same order.
    package let insertedSections: [SectionIdentity]
    /// The object keys of the rows at `changes.deletions`, in the same order.
    package let deletedKeys: [ObjectKey]
    /// The object keys of the rows at `changes.insertions`, in the same order.
    package let insertedKeys: [ObjectKey]
    /// The object keys of the rows at `changes.modifications`, in the same order.
    package let modifiedKeys: [ObjectKey]
    /// For each modified row, the properties that were written themselves, in the order of the schema.
    package let modifiedColumns: [[ColumnKey]]
    /// The number of rows after the change; if one section is observed, the number of its rows.
    package let count: Int
}
