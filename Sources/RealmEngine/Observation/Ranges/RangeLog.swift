// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The combined changes of the commits of a range: the inserted, deleted and modified objects of each table.
///
/// An object that was inserted and deleted in the range does not appear. Modified objects exist before
/// and after. One that was deleted and inserted again has left the view of a listener and come back. It
/// counts as modified in all its properties: its changes out of sight are unknown.
/// All observers of a range share one log, so the changes are read once, whatever the number of observers.
final class RangeLog {
    /// The changes of the objects of one table.
    struct TableLog {
        fileprivate(set) var inserted: Set<ObjectKey> = []
        fileprivate(set) var deleted: Set<ObjectKey> = []
        /// The columns that were written, by modified object.
        fileprivate(set) var modified: [ObjectKey: ColumnBits] = [:]
        /// The objects that were deleted and inserted again; they are among those that were modified.
        fileprivate(set) var returned: Set<ObjectKey> = []
        /// Whether the table or its columns were changed.
        fileprivate(set) var isSchemaChanged = false
        /// All columns that were written in any object.
        fileprivate(set) var columns = ColumnBits()

        /// Whether no object was inserted, deleted or modified.
        var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }
    }

    /// The tables with changes.
    private(set) var tables: [TableKey: TableLog] = [:]
    /// The operations of each commit, for the logs of single collections.
    private let changes: [[ObjectChange]]

    /// Combines the changes of commits.
    ///
    /// - Parameter changes: The changes of each commit, oldest first.
    /// - Complexity: Linear in the number of changes.
    init(_ changes: [[ObjectChange]]) {
        self.changes = changes
        for commit in changes {
            for change in commit { add(change) }
        }
        for table in tables.keys { tables[table]?.finish() }
        tables = tables.filter { !$0.value.isEmpty || $0.value.isSchemaChanged }
    }

    /// Adds the effect of one operation.
    private func add(_ change: ObjectChange) {
        switch change {
        case .created(let table, let object): tables[table, default: TableLog()].insert(object)
        case .createdRun(let table, let first, let count):
            for object in ObjectChange.keys(of: (first, count)) { tables[table, default: TableLog()].insert(object) }
        case .deleted(let table, let object): tables[table, default: TableLog()].delete(object)
        case .modified(let table, let object, let column): tables[table, default: TableLog()].modify(object, column)
        case .collection: break
        case .schema(let table): tables[table, default: TableLog()].isSchemaChanged = true
        }
    }

    /// Returns whether an object that existed before was deleted.
    func isDeleted(_ object: ObservedObject) -> Bool { tables[object.table]?.deleted.contains(object.key) == true }

    /// Returns whether an object was deleted and inserted again. The operations on its collections are not known.
    func hasReturned(_ object: ObservedObject) -> Bool { tables[object.table]?.returned.contains(object.key) == true }

    /// Returns the columns of an object that were written; none when it was inserted.
    func written(_ object: ObservedObject) -> ColumnBits { tables[object.table]?.modified[object.key] ?? ColumnBits() }

    /// Returns whether a property of an object was written.
    func isWritten(_ property: ObservedProperty) -> Bool { written(property.object).contains(property.column) }

    // MARK: - Collections

    /// Identifies a collection of an object.
    private struct Place: Hashable {
        let object: ObservedObject
        /// The leaf index of the column.
        let leafIndex: Int
    }

    /// The operations on each collection in their order; computed when first needed, which is rare.
    private lazy var operations: [Place: [CollectionChange]] = {
        var operations: [Place: [CollectionChange]] = [:]
        for commit in changes {
            for case .collection(let table, let object, let column, let change) in commit {
                operations[Place(object: ObservedObject(table, object), leafIndex: column.leafIndex), default: []].append(change)
            }
        }
        return operations
    }()

    /// Returns the operations on a collection that existed before the range, and whose owner has not returned.
    func operations(on property: ObservedProperty) -> ListChangeLog {
        guard isWritten(property) else { return ListChangeLog() }
        var log = log(of: property)
        log.dropIdleMoves()
        return log
    }

    /// Returns whether a collection was cleared before its owner was deleted.
    func isCleared(_ property: ObservedProperty) -> Bool { log(of: property).isCleared }

    /// Returns all operations on a collection in their order.
    private func log(of property: ObservedProperty) -> ListChangeLog {
        var log = ListChangeLog()
        for change in operations[Place(object: property.object, leafIndex: property.column.leafIndex)] ?? [] { log.add(change) }
        return log
    }
}

extension RangeLog.TableLog {
    /// Records the insertion of an object; one that was deleted in the same range has returned.
    fileprivate mutating func insert(_ object: ObjectKey) {
        guard deleted.remove(object) != nil else {
            inserted.insert(object)
            return
        }
        returned.insert(object)
        modified[object] = ColumnBits.all
    }

    /// Records the deletion of an object; one that was inserted in the same range disappears.
    fileprivate mutating func delete(_ object: ObjectKey) {
        modified[object] = nil
        returned.remove(object)
        if inserted.remove(object) == nil { deleted.insert(object) }
    }

    /// Records that a property of an object was written.
    fileprivate mutating func modify(_ object: ObjectKey, _ column: ColumnKey) {
        if !inserted.contains(object) { modified[object, default: ColumnBits()].insert(column) }
    }

    /// Combines the columns of all objects, after the last operation.
    fileprivate mutating func finish() {
        for bits in modified.values { columns.formUnion(bits) }
    }
}
