// SPDX-License-Identifier: Apache-2.0

/// Search indexes, kept in step with the values.
///
/// An index that disagrees with the values, as the reference engine sometimes leaves it, is built anew.
extension WriteTransaction {
    /// The columns of a table that have an index.
    private func indexedColumns(_ key: TableKey) throws(StorageError) -> [Column] {
        let state = try table(key)
        return state.columns.filter { !state.indexRoot($0).isNone }
    }

    /// The writer of an index, made when it is first needed.
    private func index(_ column: Column, _ key: TableKey) throws(StorageError) -> ColumnIndexWriter {
        try index(column, key, writers(try table(key)))
    }

    /// Changes an index; it is built anew when it disagrees with the objects.
    private func index(
        _ column: Column, _ key: TableKey, _ writers: TableWriters
    ) throws(StorageError) -> ColumnIndexWriter {
        if let known = writers.indexes[column.leafIndex], known.column === column { return known.writer }
        let made = try ColumnIndexWriter(column, isFullText: column.attributes.contains(.fullText), writes) {
            [unowned self] object throws(StorageError) in try self.value(column, of: object, in: key)
        }
        writers.indexes[column.leafIndex] = (column, made)
        return made
    }

    /// Enters a new object, whose values are those of `row`, by position of the column, or defaults. Its lists are empty.
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

    /// Takes an object out of all indexes of its table.
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

    /// Moves an object from its old value to the one that is stored now.
    func refile(_ object: ObjectKey, _ column: Column, from old: Value, in key: TableKey) throws(StorageError) {
        let root = try table(key).indexRoot(column)
        let new = try index(column, key).replace(old, by: try value(column, of: object, in: key), object, in: root)
        guard let new else { return try rebuildIndex(column.key, of: key) }
        try setIndexRoot(new, column, in: key)
    }

    // MARK: - Lists of strings

    /// Runs a change of a collection, and moves the object in the index of its elements, if there is one.
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

    /// Moves an object from its old values to its new ones in an index.
    private func refile(
        _ object: ObjectKey, _ column: Column, from old: [DetachedValue], to new: [DetachedValue], in key: TableKey
    ) throws(StorageError) {
        let root = try table(key).indexRoot(column)
        let moved = try index(column, key).replaceElements(old.map(\.value), by: new.map(\.value), object, in: root)
        withExtendedLifetime((old, new)) {}
        guard let moved else { return try rebuildIndex(column.key, of: key) }
        try setIndexRoot(moved, column, in: key)
    }

    /// The elements of a list, as its index files them.
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

    /// Stores the root of an index.
    private func setIndexRoot(_ root: Ref, _ column: Column, in key: TableKey) throws(StorageError) {
        try update(key) { $0.setIndexRoot(root, leafIndex: column.leafIndex) }
    }

    /// A new index of all objects.
    func buildIndex(_ column: Column, of key: TableKey) throws(StorageError) -> Ref {
        let objects = ClusterTree(root: try table(key).objects, space: writes.space, shift: clusterShift)
        return try index(column, key).build(from: objects, budget)
    }

    /// An index built anew from a table that still holds an object which is going to vanish.
    private func rebuiltWithout(
        _ object: ObjectKey, _ column: Column, in key: TableKey
    ) throws(StorageError) -> Ref {
        try rebuildIndex(column.key, of: key)
        let root = try table(key).indexRoot(column)
        let value = try value(column, of: object, in: key)
        return try index(column, key).erase(value, object, from: root) ?? root
    }
}
