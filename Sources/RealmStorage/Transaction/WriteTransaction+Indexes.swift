// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Search indexes, which change together with the values.
///
/// An index that does not contain what the values imply, as the reference engine sometimes leaves
/// it, is built again from the objects.
extension WriteTransaction {
    private func indexedColumns(_ key: TableKey) throws(StorageError) -> [Column] {
        let state = try table(key)
        return state.columns.filter { !state.indexRoot($0).isNone }
    }

    /// Returns the writer of an index, made when it is first needed.
    private func index(_ column: Column, _ key: TableKey) throws(StorageError) -> ColumnIndexWriter {
        try index(column, key, writers(try table(key)))
    }

    /// Returns the writer of an index from the writers of its table, made when it is first needed.
    /// It reads values from this transaction.
    private func index(
        _ column: Column, _ key: TableKey, _ writers: TableWriters
    ) throws(StorageError) -> ColumnIndexWriter {
        if let known = writers.indexes[column.leafIndex], known.column === column { return known.writer }
        let made = try makeIndex(column, key)
        writers.indexes[column.leafIndex] = (column, made)
        return made
    }

    /// Adds a new object to the indexes of its table.
    ///
    /// - Parameters:
    ///   - row: Its values by position of the column; nil is the default value. Collections of a
    ///     new object are empty.
    func fileInIndexes(
        _ object: ObjectKey, _ row: [Value?], in key: TableKey, _ writers: TableWriters
    ) throws(StorageError) {
        for (position, column) in writers.indexable {
            let root = try indexRoot(column.leafIndex, in: key)
            if root.isNone { continue }
            let value = if let given = row[position] { given } else { try value(column, of: object, in: key) }
            let changed = try index(column, key, writers).insert(value, object, into: root)
            if changed != root { try setIndexRoot(changed, column, in: key) }
        }
    }

    /// Adds new objects to the indexes of their table.
    ///
    /// - Parameters:
    ///   - objects: The keys of the objects, ascending.
    ///   - columns: For each public column its values in the same order; nil is the default value. Collections of new objects
    ///     are empty.
    func fileInIndexes(
        _ objects: [ObjectKey], _ columns: [[Value?]], in key: TableKey, _ writers: TableWriters
    ) throws(StorageError) {
        for (position, column) in writers.indexable {
            let root = try indexRoot(column.leafIndex, in: key)
            if root.isNone { continue }
            var entries: [(value: Value, object: ObjectKey)] = []
            entries.reserveCapacity(objects.count)
            for (row, object) in objects.enumerated() {
                let value = if let given = columns[position][row] { given } else { try value(column, of: object, in: key) }
                entries.append((value, object))
            }
            let changed = try index(column, key, writers).insert(entries, into: root)
            if changed != root { try setIndexRoot(changed, column, in: key) }
        }
    }

    func removeFromIndexes(_ object: ObjectKey, in key: TableKey) throws(StorageError) {
        for column in try indexedColumns(key) {
            guard column.collection == nil else {
                try refile(object, column, from: try indexedElements(column, of: object, in: key), to: [], in: key)
                continue
            }
            let root = try table(key).indexRoot(column)
            let value = try value(column, of: object, in: key)
            let erased = try index(column, key).erase(value, object, from: root)
            let new = if let erased { erased } else { try rebuiltWithout(object, column, in: key) }
            try setIndexRoot(new, column, in: key)
        }
    }

    /// Moves an object in an index from its old value to the one that is stored in the leaf.
    ///
    /// - Parameters:
    ///   - column: The column, which has an index.
    ///   - old: The value that the index still has.
    func refile(_ object: ObjectKey, _ column: Column, from old: Value, in key: TableKey) throws(StorageError) {
        let root = try table(key).indexRoot(column)
        let new = try index(column, key).replace(old, by: try value(column, of: object, in: key), object, in: root)
        guard let new else { return try rebuildIndex(column.key, of: key) }
        try setIndexRoot(new, column, in: key)
    }

    // MARK: - Lists of strings

    /// Runs a change of a collection, and moves the object in the index of its elements, if there is one.
    ///
    /// - Returns: The result of `change`.
    func refilingElements<Result>(
        _ place: CollectionPlace, _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard place.column.collection != nil, try !table(place.table).indexRoot(place.column).isNone else {
            return try change()
        }
        let old = try indexedElements(place.column, of: place.object, in: place.table)
        let result = try change()
        let new = try indexedElements(place.column, of: place.object, in: place.table)
        try refile(place.object, place.column, from: old, to: new, in: place.table)
        return result
    }

    /// Moves an object in the index of a list's elements from its old values to its new ones.
    private func refile(
        _ object: ObjectKey, _ column: Column, from old: [DetachedValue], to new: [DetachedValue], in key: TableKey
    ) throws(StorageError) {
        let root = try table(key).indexRoot(column)
        let moved = try index(column, key).replaceElements(old.map(\.value), by: new.map(\.value), object, in: root)
        withExtendedLifetime((old, new)) {}
        guard let moved else { return try rebuildIndex(column.key, of: key) }
        try setIndexRoot(moved, column, in: key)
    }

    /// Returns copies of the elements of a list, as its index files them.
    private func indexedElements(
        _ column: Column, of object: ObjectKey, in key: TableKey
    ) throws(StorageError) -> [DetachedValue] {
        let root = try collectionRoot(column, of: object, in: key)
        var elements = try ListView(root: root, space: writes.space, shape: column.elementShape).elements()
        var values: [DetachedValue] = []
        while let element = try elements.next() {
            try spend(1)
            values.append(DetachedValue(element))
        }
        return values
    }

    // MARK: - Roots

    /// Stores the root of an index in the table's state.
    private func setIndexRoot(_ root: Ref, _ column: Column, in key: TableKey) throws(StorageError) {
        try update(key) { $0.setIndexRoot(root, leafIndex: column.leafIndex) }
    }

    /// Builds an index of all objects and returns its root; reading them spends from the work budget.
    func buildIndex(_ column: Column, of key: TableKey) throws(StorageError) -> Ref {
        let objects = ClusterTree(root: try table(key).objects, space: writes.space, shift: clusterShift)
        // The writers of the other columns are not needed, and a schema with many indexes would make them anew for each.
        return try makeIndex(column, key).build(from: objects, budget)
    }

    /// Makes the writer of an index, which reads values from this transaction and spends from its budget.
    private func makeIndex(_ column: Column, _ key: TableKey) throws(StorageError) -> ColumnIndexWriter {
        try ColumnIndexWriter(column, isFullText: column.attributes.contains(.fullText), writes) {
            [unowned self] object throws(StorageError) in
            try self.spend(1)
            return try self.value(column, of: object, in: key)
        }
    }

    /// Builds an index again and removes one object from it, which is about to be deleted from the table; returns its root.
    private func rebuiltWithout(
        _ object: ObjectKey, _ column: Column, in key: TableKey
    ) throws(StorageError) -> Ref {
        try rebuildIndex(column.key, of: key)
        let root = try table(key).indexRoot(column)
        let value = try value(column, of: object, in: key)
        return try index(column, key).erase(value, object, from: root) ?? root
    }
}
