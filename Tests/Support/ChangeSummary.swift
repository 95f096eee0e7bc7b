// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
import RealmPlatform
package import RealmStorage

/// What a commit did, class by class: which objects are new, gone, or have other values.
package struct ChangeSummary: Sendable {
    package struct TableChanges: Sendable {
        package internal(set) var inserted: Set<ObjectKey> = []
        /// Objects of the version before.
        package internal(set) var deleted: Set<ObjectKey> = []
        /// Columns that were written, by object; objects that are new or gone are not here.
        package internal(set) var modified: [ObjectKey: Set<ColumnKey>] = [:]
        /// Operations on the collections of properties, in order.
        package internal(set) var collections: [ObjectKey: [ColumnKey: [CollectionChange]]] = [:]
        /// Whether columns or the name changed.
        package internal(set) var isSchemaChanged = false

        package var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty && !isSchemaChanged }
    }

    /// Tables in which nothing is different in the end are not here.
    package private(set) var tables: [TableKey: TableChanges] = [:]

    package init(_ changes: [ObjectChange]) {
        for change in changes { add(change) }
        tables = tables.filter { !$0.value.isEmpty }
    }

    private mutating func add(_ change: ObjectChange) {
        switch change {
        case .created(let table, let object): tables[table, default: TableChanges()].create(object)
        case .createdRun(let table, let first, let count):
            for object in ObjectChange.keys(of: (first, count)) { tables[table, default: TableChanges()].create(object) }
        case .deleted(let table, let object): tables[table, default: TableChanges()].delete(object)
        case .modified(let table, let object, let column):
            tables[table, default: TableChanges()].modify(object, column)
        case .collection(let table, let object, let column, let change):
            tables[table, default: TableChanges()].change(object, column, change)
        case .schema(let table): tables[table, default: TableChanges()].isSchemaChanged = true
        }
    }
}

extension ChangeSummary.TableChanges {
    mutating func create(_ object: ObjectKey) { inserted.insert(object) }

    mutating func delete(_ object: ObjectKey) {
        modified[object] = nil
        collections[object] = nil
        // An object that came and went was never seen.
        if inserted.remove(object) == nil { deleted.insert(object) }
    }

    mutating func modify(_ object: ObjectKey, _ column: ColumnKey) {
        guard !inserted.contains(object) else { return }
        modified[object, default: []].insert(column)
    }

    mutating func change(_ object: ObjectKey, _ column: ColumnKey, _ change: CollectionChange) {
        guard !inserted.contains(object) else { return }
        collections[object, default: [:]][column, default: []].append(change)
    }
}

extension Commit {
    /// What became of every class.
    package var summary: ChangeSummary { ChangeSummary(changes) }
}
