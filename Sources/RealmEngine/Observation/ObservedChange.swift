// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// What became of a target between two versions.
package struct ObservationEvent: Sendable {
    /// Old values are read from it.
    package let from: Database.Version
    /// New values are read from it.
    package let to: Database.Version
    package let change: ObservedChange
}

package enum ObservedChange: Sendable {
    /// Of results, linking objects, lists and sets of objects that stand for themselves, and views of those.
    case rows(RowsChange)
    /// Of lists and sets of values or embedded objects, and of views of those and of dictionaries.
    case values(ValuesChange)
    case dictionary(DictionaryChange)
    /// The properties in the order of the schema, linking objects last.
    case object([KeyPathStep])
    /// The object is gone; nothing follows.
    case objectDeleted
    case sections(SectionedChange)
    /// The tables in which something is different or was written, in position order.
    case realm([TableKey])
    /// What happened is not known in detail: the contents have to be read again.
    case unknown

    /// Whether there is nothing to tell but that nothing will follow.
    package var isSilent: Bool {
        if case .rows(let change) = self { return change.isLast && change.changes.isEmpty }
        return false
    }
}

package struct RowsChange: Sendable {
    /// The class of the rows.
    package let table: TableKey
    package let changes: CollectionChanges
    /// One for each of `changes.deletions`, and so on.
    package let deletedKeys: [ObjectKey]
    package let insertedKeys: [ObjectKey]
    package let modifiedKeys: [ObjectKey]
    /// The columns of each modified object that were written themselves, in the order of the schema.
    package let modifiedColumns: [[ColumnKey]]
    package let moveKeys: [ObjectKey]
    /// How many rows there are now.
    package let count: Int
    /// Nothing will follow. Of a result that had no rows when its owner was deleted, that is all that there is to say.
    package internal(set) var isLast = false
}

package struct ValuesChange: Sendable {
    package let changes: CollectionChanges
    /// Positions in the collection of the elements at `changes.insertions`: the same for the collection itself.
    package let insertedPlaces: [Int]
    /// Positions in the collection now of the elements at `changes.modificationsNew`.
    package let modifiedPlaces: [Int]
    package let count: Int
}

/// All in the order of the keys, which borrow from the snapshots of the event.
package struct DictionaryChange: Sendable {
    package let deleted: [DictionaryKey]
    package let inserted: [DictionaryKey]
    package let modified: [DictionaryKey]
    /// Positions now of the entries of `inserted` and `modified`.
    package let insertedPlaces: [Int]
    package let modifiedPlaces: [Int]
    package let isCleared: Bool
    package let isRootDeleted: Bool
    package let count: Int

    package var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && modified.isEmpty && !isCleared && !isRootDeleted
    }
}

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

/// The state of a target in a version.
package enum ObservedContents: Sendable {
    case rows(TableKey, [ObjectKey])
    /// So many elements; `places` are their positions in the collection when they are a view of it.
    case values(count: Int, places: [Int]?)
    case dictionary(count: Int)
    case object
    /// With the position of each section among all.
    case sections(TableKey, [(index: Int, key: SectionIdentity, rows: [ObjectKey])])
    case realm
    /// The object that it belonged to was deleted.
    case gone
}

/// The classes or properties of a realm are others.
package struct SchemaChange: Sendable, Equatable {
    /// Nil when the file has none.
    package let oldVersion: UInt64?
    package let newVersion: UInt64?
    /// Whether everything that was there still is.
    package let isAdditive: Bool
}

/// Why something cannot be observed, or not any more.
package enum ObservationError: Error, Sendable {
    /// The class, object or property is not there.
    case notFound
    /// Sorted by something else than its sections, or what the layer above throws.
    case invalid(any Error & Sendable)
    case query(QueryError)
    case storage(StorageError)
    /// The database is closed.
    case closed
}
