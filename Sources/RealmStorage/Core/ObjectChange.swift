// SPDX-License-Identifier: Apache-2.0

/// What a write did, in order: what notifications, entity tags and tests are made of.
///
/// A transaction lists these in order while it runs. What observers receive of a commit is made of the list alone, so everything
/// that
/// changes an object must be in it; changes of an object that was created before in the same transaction may be left out.
package enum ObjectChange: Sendable {
    /// A new object of this table.
    case created(TableKey, ObjectKey)
    /// An object of this table that is gone. Its links and collections went with it.
    case deleted(TableKey, ObjectKey)
    /// A property got another value, or something inside it changed.
    case modified(TableKey, ObjectKey, ColumnKey)
    /// An operation on a list, set or dictionary of a property itself; positions as at that moment.
    case collection(TableKey, ObjectKey, ColumnKey, CollectionChange)
    /// Columns, hidden ones too, name or kind of a table changed, or the table is new or gone.
    case schema(TableKey)
}
