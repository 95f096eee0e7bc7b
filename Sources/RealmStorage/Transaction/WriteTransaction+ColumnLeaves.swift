// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The leaves of columns that are added, removed or replaced.
extension WriteTransaction {
    /// Gives every object, tombstones included, the default value in a column that was just added to the spec.
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

    /// Discards the values of a column with everything below them, in objects and tombstones.
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

    /// Removes the backlinks of all links in a column, and deletes the embedded objects that it owns.
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
}
