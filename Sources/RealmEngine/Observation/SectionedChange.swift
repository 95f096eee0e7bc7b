// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// The difference between two results that are divided into sections.
package struct SectionedChange: Sendable {
    /// The class of the rows.
    package let table: TableKey
    /// The positions.
    package let changes: SectionChanges
    /// One for each of `changes.sectionsToDelete`, and so on.
    package let deletedSections: [SectionIdentity]
    /// One for each of `changes.sectionsToInsert`.
    package let insertedSections: [SectionIdentity]
    /// One for each of `changes.deletions`.
    package let deletedKeys: [ObjectKey]
    /// One for each of `changes.insertions`.
    package let insertedKeys: [ObjectKey]
    /// One for each of `changes.modifications`.
    package let modifiedKeys: [ObjectKey]
    /// The columns of each modified object that were written themselves, in the order of the schema.
    package let modifiedColumns: [[ColumnKey]]
    /// How many rows there are now; only of the section that is observed, if it is one.
    package let count: Int
}
