// SPDX-License-Identifier: Apache-2.0

/// The leaves of columns that are added, removed or replaced.
extension WriteTransaction {
    /// Gives every object, tombstones included, the default value in a column that was just added
    /// to the spec.
    func addLeaves(of column: ColumnKey, in key: TableKey) throws(StorageError) {
        let state = try table(key)
        guard let fresh = state.freshColumn(column), !state.objects.isNone else {
            return try addLeavesToNothing(of: column, in: key)
        }
        // Only the writer of this column is made: making those of all others would cost more than adding the
        // column.
        let shape = TableWriters.shape(fresh)
        let added = ClusterWriter.Column(
            leafIndex: fresh.leafIndex, shape: shape, leaf: LeafWriter(writes, shape, inCluster: true))
        let cluster = ClusterWriter(writes, columns: [added], shift: clusterShift)
        let objects = try cluster.addColumn(added, in: state.objects)
        let tombstones = try state.tombstones.isNone ? Ref.none : cluster.addColumn(added, in: state.tombstones)
        try store(objects, tombstones, in: key)
    }

    /// Makes the cluster tree of a table that has none, with leaves of all columns.
    private func addLeavesToNothing(of column: ColumnKey, in key: TableKey) throws(StorageError) {
        let state = try table(key)
        let cluster = writers(state).cluster
        guard let added = cluster.columns.first(where: { $0.leafIndex == column.leafIndex }) else { return }
        try store(try cluster.addColumn(added, in: state.objects), state.tombstones, in: key)
    }

    /// Gives up the values of a column with everything below them, in objects and tombstones.
    func dropLeaves(of column: Column, in key: TableKey) throws(StorageError) {
        let state = try table(key)
        let cluster = writers(state).cluster
        let objects = try cluster.removeColumn(leafIndex: column.leafIndex, in: state.objects)
        let tombstones =
            try state.tombstones.isNone
            ? Ref.none : cluster.removeColumn(leafIndex: column.leafIndex, in: state.tombstones)
        try store(objects, tombstones, in: key)
    }

    /// Stores the roots of both cluster trees of a table.
    private func store(_ objects: Ref, _ tombstones: Ref, in key: TableKey) throws(StorageError) {
        try update(key) { state in
            state.objects = objects
            state.tombstones = tombstones
        }
    }

    /// Removes the backlinks of all links in a column, and deletes the embedded objects that it
    /// owns.
    ///
    /// - Complexity: O(number of objects and links); each object spends from the work budget.
    func clearLinks(of column: Column, in key: TableKey) throws(StorageError) {
        for object in try objectKeys(in: key) {
            try spend()
            var orphans: [StoredLink] = []
            try forgetLinks(of: column, object, in: key, orphans: &orphans)
            try delete(orphans)
        }
    }

    // MARK: - Nullability

    /// Makes the values or elements of a column optional or required, as the SDKs do: by a new
    /// column that takes over name, values, index and primary key.
    ///
    /// Nulls become the default value of the type. A column that is so already, or whose type
    /// leaves no choice (links and Mixed), is not changed.
    ///
    /// - Parameters:
    ///   - isNullable: Whether values may be null afterwards.
    ///   - column: The column.
    ///   - key: Its table.
    /// - Returns: The key of the new column, or `column` when nothing changed.
    /// - Complexity: O(number of objects and elements).
    @discardableResult
    package func setNullable(_ isNullable: Bool, _ column: ColumnKey, of key: TableKey) throws(StorageError) -> ColumnKey {
        guard let old = try table(key).column(column), old.isNullable != isNullable,
            old.type != .link, old.type != .mixed
        else { return column }
        let isPrimaryKey = try table(key).primaryKeyColumn?.leafIndex == column.leafIndex
        let index = old.declaredIndex
        let definition = ColumnDefinition(
            temporaryName, old.type, isNullable: isNullable, collection: old.collection)
        let new = try addColumn(definition, to: key)
        guard let added = try table(key).column(new) else { return new }
        for object in try objectKeys(in: key) {
            try spend()
            try copyValues(of: object, from: old, to: added, in: key)
        }
        if isPrimaryKey { try update(key) { $0.primaryKeyColumn = nil } }
        try removeColumn(column, of: key)
        try renameColumn(new, of: key, to: old.name)
        if let index { try addIndex(index, to: new, of: key) }
        if isPrimaryKey { try setPrimaryKey(new, of: key) }
        return new
    }

    /// The name of the new column while the old one exists. No property of a user has it, as it
    /// begins with a character that names may not begin with.
    private var temporaryName: String { "$nullability" }

    /// Copies the value, or the collection, of one object from a column to another; nulls that the
    /// new column does not take become default values.
    private func copyValues(
        of object: ObjectKey, from old: Column, to new: Column, in key: TableKey
    ) throws(StorageError) {
        guard let form = CollectionForm(old) else {
            let value = DetachedValue(try value(old, of: object, in: key))
            if value.value.isNull, !new.isNullable { return }
            try updateLeaf(new, of: object, in: key, setting: value.value)
            return withExtendedLifetime(value) {}
        }
        let (root, place) = (try collectionRoot(old, of: object, in: key), CollectionPlace(key, object, new))
        guard !root.isNone, try elementTree(root, form).count > 0 else { return }
        if case .dictionary = form { return try copyEntries(root, to: place) }
        let fallback = LeafWriter(writes, .values(new.elementShape), inCluster: false).defaultValue
        var elements = ElementCursor(try elementTree(root, form))
        var index = 0
        while let element = try elements.next() {
            try spend()
            let value = DetachedValue(element.isNull && !new.isNullable ? fallback : element)
            if case .set = form {
                try insertMember(value.value, in: place)
            } else {
                try insert(value.value, at: index, in: place)
            }
            withExtendedLifetime(value) {}
            index += 1
        }
    }

    /// Copies the entries of a dictionary to another place; nulls that the new column does not take
    /// become default values.
    private func copyEntries(_ root: Ref, to place: CollectionPlace) throws(StorageError) {
        let fallback = LeafWriter(writes, .values(place.column.elementShape), inCluster: false).defaultValue
        for entry in try DictionaryWriter(writes).entries(root) {
            try spend()
            let value = entry.value.isNull && !place.column.isNullable ? fallback : entry.value
            try setEntry(entry.key, value, in: place)
        }
    }
}
