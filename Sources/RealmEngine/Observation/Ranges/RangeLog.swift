// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What the commits of a range did, together: of each table the objects that are new, gone or written.
///
/// An object that came and went was never there. Written are only objects that are there before and after.
///
/// All observers of a range share one log, so the changes are gone through once, however many observe.
final class RangeLog {
    /// What became of the objects of one table.
    struct TableLog {
        /// Objects that are new.
        fileprivate(set) var inserted: Set<ObjectKey> = []
        /// Objects that are gone.
        fileprivate(set) var deleted: Set<ObjectKey> = []
        /// Written columns.
        fileprivate(set) var modified: [ObjectKey: ColumnBits] = [:]
        /// Whether the table or its columns are others.
        fileprivate(set) var isSchemaChanged = false
        /// All columns that were written in some object.
        fileprivate(set) var columns = ColumnBits()

        /// Whether no object is new, gone or written.
        var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }
    }

    /// The tables in which something was done.
    private(set) var tables: [TableKey: TableLog] = [:]
    /// The operations of each commit, for what is asked of single collections.
    private let changes: [[ObjectChange]]

    /// The changes of each commit, oldest first.
    init(_ changes: [[ObjectChange]]) {
        self.changes = changes
        for commit in changes {
            for change in commit { add(change) }
        }
        for table in tables.keys { tables[table]?.finish() }
        tables = tables.filter { !$0.value.isEmpty || $0.value.isSchemaChanged }
    }

    /// Adds what one operation did.
    private func add(_ change: ObjectChange) {
        switch change {
        case .created(let table, let object): tables[table, default: TableLog()].inserted.insert(object)
        case .deleted(let table, let object): tables[table, default: TableLog()].delete(object)
        case .modified(let table, let object, let column): tables[table, default: TableLog()].modify(object, column)
        case .collection: break
        case .schema(let table): tables[table, default: TableLog()].isSchemaChanged = true
        }
    }

    /// Whether any table or column is another.
    var isSchemaChanged: Bool { tables.values.contains { $0.isSchemaChanged } }

    /// Whether an object that was there is gone.
    func isDeleted(_ object: ObservedObject) -> Bool { tables[object.table]?.deleted.contains(object.key) == true }

    /// The columns of an object that were written; none when it is new.
    func written(_ object: ObservedObject) -> ColumnBits { tables[object.table]?.modified[object.key] ?? ColumnBits() }

    /// Whether a property of an object was written.
    func isWritten(_ property: ObservedProperty) -> Bool { written(property.object).contains(property.column) }

    // MARK: - Collections

    /// A collection of an object.
    private struct Place: Hashable {
        /// The object.
        let object: ObservedObject
        /// The column, by its leaf index.
        let leafIndex: Int
    }

    /// Made when it is first needed, which is seldom.
    private lazy var operations: [Place: [CollectionChange]] = {
        var operations: [Place: [CollectionChange]] = [:]
        for commit in changes {
            for case .collection(let table, let object, let column, let change) in commit {
                operations[Place(object: ObservedObject(table, object), leafIndex: column.leafIndex), default: []].append(change)
            }
        }
        return operations
    }()

    /// What was done to a collection that was there before the range.
    func operations(on property: ObservedProperty) -> ListChangeLog {
        guard isWritten(property) else { return ListChangeLog() }
        var log = log(of: property)
        log.dropIdleMoves()
        return log
    }

    /// Whether a collection was emptied at once before its owner was deleted.
    func isCleared(_ property: ObservedProperty) -> Bool { log(of: property).isCleared }

    /// Everything that was done to a collection, in order.
    private func log(of property: ObservedProperty) -> ListChangeLog {
        var log = ListChangeLog()
        for change in operations[Place(object: property.object, leafIndex: property.column.leafIndex)] ?? [] { log.add(change) }
        return log
    }
}

extension RangeLog.TableLog {
    /// An object was deleted; one that came in the same range was never there.
    fileprivate mutating func delete(_ object: ObjectKey) {
        modified[object] = nil
        if inserted.remove(object) == nil { deleted.insert(object) }
    }

    /// A property of an object was written.
    fileprivate mutating func modify(_ object: ObjectKey, _ column: ColumnKey) {
        if !inserted.contains(object) { modified[object, default: ColumnBits()].insert(column) }
    }

    /// Sums up the columns when all operations are in.
    fileprivate mutating func finish() {
        for bits in modified.values { columns.formUnion(bits) }
    }
}
