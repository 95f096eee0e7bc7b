// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Objects: they are created, found by primary key, and deleted.
extension WriteTransaction {
    /// Makes an object with default values, except for the primary key and those in `values`.
    ///
    /// The caller has checked that no object has this primary key. If links are kept for it by a
    /// tombstone, they point to the new object afterwards.
    ///
    /// - Parameters:
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

    /// Makes several objects, column by column, which is several times as fast as making one after the other. The objects get the
    /// keys, and the table the shape, that they would have then.
    ///
    /// The caller has checked that no object has one of the primary keys, and that these are different from each other.
    ///
    /// - Parameters:
    ///   - columns: A list of as many values for each public column, the primary key included: nil is the default, and nil for
    ///     links and collections.
    /// - Returns: The keys of the new objects.
    /// - Throws: `.limit` for values that cannot be stored or a full table, `.corrupt` for damage.
    package func createObjects(
        _ count: Int, in key: TableKey, columns: [[Value?]]
    ) throws(StorageError) -> [ObjectKey] {
        let state = try table(key)
        let writers = writers(state)
        guard count > 1, state.tombstones.isNone, let (objects, sequence) = try nextObjectKeys(count, state) else {
            return try createEach(count, in: key, columns, writers)
        }
        let root = try writers.cluster.append(ClusterRun(keys: objects, columns: columns), to: state.objects)
        try update(key) { state in
            state.objects = root
            state.objectSequence = sequence
        }
        if !writers.enumerations.isEmpty { try keepEnumerations(writers, key) }
        try fileInIndexes(objects, columns, in: key, writers)
        noteCreated(objects, in: key)
        return objects
    }

    /// Notes that objects were created: keys that follow each other as one change.
    private func noteCreated(_ objects: [ObjectKey], in key: TableKey) {
        var first = 0
        while first < objects.count {
            var end = first + 1
            while end < objects.count, objects[end].rawValue == objects[end - 1].rawValue &+ 1 { end += 1 }
            let run = end - first
            changes.append(run == 1 ? .created(key, objects[first]) : .createdRun(key, objects[first], count: run))
            first = end
        }
    }

    /// Adds objects to a file that is being made of another one: with the keys and the contents that are given, unchecked, and
    /// without a record of the change.
    ///
    /// - Parameters:
    ///   - keys: The keys of the objects, above those of all objects in the table.
    ///   - columns: For each public and then for each hidden column as many values as there are keys. Collections and backlinks are
    ///     their roots, as `.list`; a tagged key is a root too.
    ///   - leafCapacity: The maximum number of objects in a leaf: fewer than in other leaves where columns are very many, because
    ///     a leaf is written as a whole.
    /// - Throws: `.limit` for values that cannot be stored or a full table.
    package func appendRows(
        _ keys: Range<Int>, in key: TableKey, columns: [[Value?]], leafCapacity: Int
    ) throws(StorageError) {
        guard !keys.isEmpty else { return }
        let writers = writers(try table(key))
        let objects = keys.map { ObjectKey(Int64($0)) }
        let run = ClusterRun(keys: objects, columns: columns, leafCapacity: leafCapacity)
        let root = try writers.cluster.append(run, to: try table(key).objects)
        try update(key) { state in
            state.objects = root
            state.objectSequence = UInt64(keys.upperBound)
        }
        try fileInIndexes(objects, columns, in: key, writers)
    }

    /// Makes objects one after the other.
    private func createEach(
        _ count: Int, in key: TableKey, _ columns: [[Value?]], _ writers: TableWriters
    ) throws(StorageError) -> [ObjectKey] {
        var objects: [ObjectKey] = []
        for row in 0..<count {
            let values = columns.map { $0[row] }
            let primaryKey = writers.primaryKeyPosition.flatMap { values[$0] }
            objects.append(try createObject(in: key, primaryKey: primaryKey, values: values))
        }
        return objects
    }

    /// Returns the next keys, if they ascend and lie above those of all objects, and the sequence number after them.
    private func nextObjectKeys(
        _ count: Int, _ state: TableState
    ) throws(StorageError) -> (keys: [ObjectKey], sequence: UInt64)? {
        let tree = ClusterTree(root: state.objects, space: writes.space, shift: clusterShift)
        let present = try tree.count()
        var last = try present > 0 ? tree.row(at: present - 1)?.key : nil
        let room = WriteTransaction.maximumObjectSequence - min(state.objectSequence, WriteTransaction.maximumObjectSequence)
        guard UInt64(count) < room else { return nil }
        var keys: [ObjectKey] = []
        keys.reserveCapacity(count)
        for sequence in state.objectSequence..<state.objectSequence + UInt64(count) {
            let object = ObjectKey(Int64(bitPattern: state.primaryKeyColumn == nil ? squeezed(sequence) : sequence))
            if let last, object <= last { return nil }
            keys.append(object)
            last = object
        }
        return (keys, state.objectSequence + UInt64(count))
    }

    /// Returns whether one of the primary keys belongs to an object already, or is there twice.
    ///
    /// - Parameters:
    ///   - values: Primary keys of the table's type.
    /// - Throws: `.corrupt` when the primary key has no index.
    package func hasAnyPrimaryKey(of values: [Value], in key: TableKey) throws(StorageError) -> Bool {
        let state = try table(key)
        guard let column = state.primaryKey else { return false }
        // In the order of the index, one look-up finds the nodes that the one before has read.
        let data = values.map { IndexData($0) }
        let groups = SearchIndexWriter.KeyGroups(data.map { $0.key(at: 0) })
        for index in groups.keys.indices {
            let members = groups.members(index)
            if members.count > 1, hasEqual(members.map { values[Int($0)] }) { return true }
            for member in members where try findByPrimaryKey(values[Int(member)], column, state) != nil { return true }
        }
        return false
    }

    /// Returns whether two of some values are the same.
    private func hasEqual(_ values: [Value]) -> Bool {
        let sorted = values.sorted { Value.order($0, $1) < 0 }
        return zip(sorted, sorted.dropFirst()).contains { $0.isIdentical(to: $1) }
    }

    /// Returns the object with a primary key, or nil when there is none or the table has no primary key.
    ///
    /// - Throws: `.corrupt` when the primary key has no index.
    package func findByPrimaryKey(_ value: Value, in key: TableKey) throws(StorageError) -> ObjectKey? {
        let state = try table(key)
        guard let column = state.primaryKey else { return nil }
        return try findByPrimaryKey(value, column, state)
    }

    /// Returns the object with a primary key, or nil when there is none.
    private func findByPrimaryKey(_ value: Value, _ column: Column, _ state: TableState) throws(StorageError) -> ObjectKey? {
        let key = state.key
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
    /// Keys follow from the sequence number of the table. Keys in tables without primary key are spread out, as SDKs do in local
    /// files.
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

    /// Removes an object with its links and index entries; the embedded objects that it held are added to `orphans`.
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

    /// Removes the backlinks of all links in one property of an object; embedded targets are added to `orphans`.
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
