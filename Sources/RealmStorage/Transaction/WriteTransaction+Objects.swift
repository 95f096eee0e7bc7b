// SPDX-License-Identifier: Apache-2.0

/// Objects: made, found by primary key, deleted.
extension WriteTransaction {
    /// Makes an object with default values, except for the primary key and what `values` has, unless it is empty: one for
    /// each public column, nil for the default, and none of links and collections.
    ///
    /// `values` may have the primary key too. The caller has checked that no object has this primary key. A tombstone that waits under it comes back to life:
    /// what linked to it links to the new object.
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

    /// The object with that primary key, or nil.
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

    /// The next key that no object has, and the sequence after it. Tables without primary key leave gaps that synchronised files number otherwise.
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

    /// Beyond this a key would be that of a tombstone. Nobody can make so many objects.
    private static let maximumObjectSequence: UInt64 = 1 << 61

    /// Spreads a sequence so that keys differ in their low bits, as SDKs do.
    private func squeezed(_ sequence: UInt64) -> UInt64 { sequence & 0xff | (sequence & 0xffff_ff00) << 8 }

    // MARK: - Deletion

    /// Deletes an object, the embedded objects it owns and every link to it.
    ///
    /// Embedded objects that it held go with it. Links of other objects to it become null. Takes time that grows with the number of links.
    package func deleteObject(_ object: ObjectKey, in key: TableKey) throws(StorageError) {
        var pending = [StoredLink(table: key, object: object)]
        while let next = pending.popLast() {
            try spend()
            guard try row(next.object, in: next.table) != nil else { continue }
            try removeObject(next, orphans: &pending)
        }
    }

    /// Deletes every object of a table.
    ///
    /// The result is that of deleting each of them by itself.
    package func deleteAllObjects(in key: TableKey) throws(StorageError) {
        for object in try objectKeys(in: key) { try deleteObject(object, in: key) }
    }

    /// Takes an object out with its links; embedded objects that it held go to `orphans`.
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

    /// Takes the records of all links in one property back; embedded targets are left to `orphans`.
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
