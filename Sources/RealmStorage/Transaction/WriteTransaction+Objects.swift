// SPDX-License-Identifier: Apache-2.0

/// Objects: they are created, found by primary key, and deleted.
/// Objects: made, found by primary key, deleted.
extension WriteTransaction {
    /// Makes an object with default values, except for the primary key and those in `values`.
    ///
    /// The caller has checked that no object has this primary key. If links are kept for it by a
    /// tombstone, they point to the new object afterwards.
    ///
    /// - Parameters:
    ///   - key: The table.
    ///   - primaryKey: The primary key; nil if the table has none, or if it is in `values`.
    ///   - values: Empty, or an element for each public column: nil for the default, and nil for
    ///     links and collections.
    /// - Returns: The key of the new object.
    /// - Throws: `.limit` for values that cannot be stored or a full table, `.corrupt` for damage.
    package func createObject(
        in key: TableKey, primaryKey: Value? = nil, values: [Value?] = []
    ) throws(StorageError) -> ObjectKey {
        let state = try table(key)
        let writers = writers(state)
        let (object, sequence) = try nextObjectKey(state)
        var row = values.count == state.columns.count ? values : Array(repeating: nil, count: state.columns.count)
        if let position = writers.primaryKeyPosition, row[position] == nil { row[position] = primaryKey }
        let root = try writers.cluster.insert(object, in: state.objects, values: row)
        try update(key) { state in
            state.objects = root
            state.objectSequence = sequence
        }
        if !writers.enumerations.isEmpty { try keepEnumerations(writers, key) }
        try fileInIndexes(object, row, in: key, writers)
        changes.append(.created(key, object))
        if let primaryKey, !state.tombstones.isNone { try resurrect(object, primaryKey, in: key) }
        return object
    }

    /// Returns the object with a primary key, or nil when there is none or the table has no primary
    /// key.
    ///
    /// - Throws: `.corrupt` when the primary key has no index.
    package func findByPrimaryKey(_ value: Value, in key: TableKey) throws(StorageError) -> ObjectKey? {
        let state = try table(key)
        guard let column = state.primaryKey else { return nil }
        let root = state.indexRoot(column)
        guard !root.isNone else { throw .corrupt(ref: .none, reason: "the primary key of '\(state.name)' has no index") }
        for candidate in try SearchIndex(root: root, space: writes.space).candidates(for: value) {
            guard let row = try row(candidate, in: key) else { continue }
            if try row.value(column).isIdentical(to: value) { return candidate }
        }
        return nil
    }

    /// Returns the next key that no object has, and the sequence number after it.
    ///
    /// Keys follow from the sequence number of the table. Those of tables without primary key are
    /// spread out, as SDKs do in local files.
    private func nextObjectKey(_ state: TableState) throws(StorageError) -> (key: ObjectKey, sequence: UInt64) {
        let tree = ClusterTree(root: state.objects, space: writes.space, shift: clusterShift)
        var sequence = state.objectSequence
        while true {
            guard sequence < WriteTransaction.maximumObjectSequence else {
                throw .corrupt(ref: state.ref, reason: "'\(state.name)' has no object keys left after \(sequence)")
            }
            let object = ObjectKey(Int64(bitPattern: state.primaryKeyColumn == nil ? squeezed(sequence) : sequence))
            sequence += 1
            guard try tree.find(object) == nil else { continue }
            return (object, sequence)
        }
    }

    /// The sequence number at which a table is full: beyond it a key would be that of a tombstone.
    /// It cannot be reached by creating objects.
    private static let maximumObjectSequence: UInt64 = 1 << 61

    /// Returns the key for a sequence number of a table without primary key: its low 8 bits, and
    /// the next 24 bits shifted up by 8. Source: docs/format.md, "Keys".
    private func squeezed(_ sequence: UInt64) -> UInt64 { sequence & 0xff | (sequence & 0xffff_ff00) << 8 }

    // MARK: - Deletion

    /// Deletes an object, the embedded objects that it owns, and every link to it.
    ///
    /// Links of other objects to it become null, or are removed from their list or set. An object
    /// that does not exist is ignored.
    ///
    /// - Complexity: O(number of links), which are counted against the work budget.
    package func deleteObject(_ object: ObjectKey, in key: TableKey) throws(StorageError) {
        var pending = [StoredLink(table: key, object: object)]
        while let next = pending.popLast() {
            try spend()
            guard try row(next.object, in: next.table) != nil else { continue }
            try removeObject(next, orphans: &pending)
        }
    }

    /// Deletes every object of a table, with the same effect as deleting them one by one.
    package func deleteAllObjects(in key: TableKey) throws(StorageError) {
        for object in try objectKeys(in: key) { try deleteObject(object, in: key) }
    }

    /// Removes an object with its links and index entries; the embedded objects that it held are
    /// added to `orphans`.
    private func removeObject(_ object: StoredLink, orphans: inout [StoredLink]) throws(StorageError) {
        try nullifyIncoming(of: object)
        try removeFromIndexes(object.object, in: object.table)
        for column in try table(object.table).columns where column.type == .link || column.type == .mixed {
            try forgetLinks(of: column, object.object, in: object.table, orphans: &orphans)
        }
        let state = try table(object.table)
        let root = try writers(state).cluster.erase(object.object, in: state.objects)
        try update(object.table) { $0.objects = root }
        changes.append(.deleted(object.table, object.object))
    }

    /// Removes the backlinks of all links in one property of an object; embedded targets are added
    /// to `orphans`.
    func forgetLinks(
        of column: Column, _ object: ObjectKey, in key: TableKey, orphans: inout [StoredLink]
    ) throws(StorageError) {
        for link in try storedLinks(of: column, object, in: key) {
            try spend()
            try removeBacklink(to: link, from: object, column, in: key)
            if try table(link.table).kind == .embedded, link.object.rawValue >= 0 { orphans.append(link) }
        }
    }
}
