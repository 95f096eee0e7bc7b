// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

package struct SectionedChange: Sendable {
    package let table: TableKey
    package let changes: SectionChanges
    /// One for each of `changes.sectionsToDelete`, and so on.
    package let deletedSections: [SectionIdentity]
    package let insertedSections: [SectionIdentity]
    package let deletedKeys: [ObjectKey]
    package let insertedKeys: [ObjectKey]
    package let modifiedKeys: [ObjectKey]
    package let modifiedColumns: [[ColumnKey]]
    /// How many rows there are now; only of the section that is observed, if it is one.
    package let count: Int
}
