// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One change that a write made, from which notifications and entity tags are derived.
///
/// A transaction lists its changes in their order while it runs. Notifications of a commit are made from the list alone, so
/// everything that changes an object must be in it; changes of an object that was created before in the same transaction may be
/// left out.
package enum ObjectChange: Sendable, Equatable {
    case created(TableKey, ObjectKey)
    /// As many objects of this table were created together, with keys that follow each other.
    case createdRun(TableKey, ObjectKey, count: Int)
    /// An object of this table was deleted, with its links and collections.
    case deleted(TableKey, ObjectKey)
    /// A property of an object got another value, or something inside its value changed.
    case modified(TableKey, ObjectKey, ColumnKey)
    /// A list, set or dictionary of a property itself was changed by one operation, whose positions are those at that moment.
    case collection(TableKey, ObjectKey, ColumnKey, CollectionChange)
    /// The name, the kind or the columns of a table changed, hidden columns included, or the table was created or removed.
    case schema(TableKey)

    /// The table that changed, or whose object did.
    package var table: TableKey {
        switch self {
        case .created(let table, _), .createdRun(let table, _, _), .deleted(let table, _), .modified(let table, _, _),
            .collection(let table, _, _, _), .schema(let table):
            return table
        }
    }

    /// The number of objects that the change is about; 1 for a change of the schema.
    package var objectCount: Int {
        if case .createdRun(_, _, let count) = self { return count }
        return 1
    }

    @inline(__always) package static func keys(of run: (first: ObjectKey, count: Int)) -> some Sequence<ObjectKey> {
        (0..<Int64(run.count)).lazy.map { ObjectKey(run.first.rawValue &+ $0) }
    }
}

/// One operation on a collection.
///
/// Positions count stored elements, unresolved links included, and each change refers to the collection as the changes before it
/// have left it. Observers turn a run of these into insertions, deletions and moves.
package enum CollectionChange: Sendable, Equatable {
    /// An element was inserted at this position; the later ones moved up by one.
    case insert(Int)
    /// The element at this position was replaced.
    case set(Int)
    /// The element at this position was removed; the later ones moved down by one.
    case erase(Int)
    /// The element at `from` was removed and inserted again, so that its position is `to`.
    case move(from: Int, to: Int)
    /// All elements were removed; `count` is how many there were.
    case clear(count: Int)
}
