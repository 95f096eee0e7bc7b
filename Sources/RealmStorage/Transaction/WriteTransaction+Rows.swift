// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Access to objects by key, and changes of one column of an object.
extension WriteTransaction {
    /// Returns the place of an object, or nil when the table does not have it; a negative key names a tombstone.
    ///
    /// The row borrows from the present state and must not be used after the next change.
    package func row(_ object: ObjectKey, in key: TableKey) throws(StorageError) -> Row? {
        try ClusterTree(root: try root(of: object, in: key), space: writes.space, shift: clusterShift).find(object)
    }

    /// Returns the place of an object that should exist; throws `.corrupt` when it does not.
    func existingRow(_ object: ObjectKey, in key: TableKey) throws(StorageError) -> Row {
        guard let row = try row(object, in: key) else {
            throw .corrupt(ref: .none, reason: "no object \(object.rawValue) in '\(try table(key).name)'")
        }
        return row
    }

    /// Returns the value of a property that is not a collection. Unresolved links read as null.
    ///
    /// Texts and bytes in it are valid until the next change of the leaf.
    ///
    /// - Throws: `.corrupt` when the object does not exist.
    package func value(_ column: Column, of object: ObjectKey, in key: TableKey) throws(StorageError) -> Value {
        try existingRow(object, in: key).value(column)
    }

    /// Returns how many objects a table has, tombstones not counted.
    package func count(in key: TableKey) throws(StorageError) -> Int {
        try ClusterTree(root: table(key).objects, space: writes.space, shift: clusterShift).count()
    }

    /// Returns the key of the object at a position in key order, or nil past the end.
    package func object(at position: Int, in key: TableKey) throws(StorageError) -> ObjectKey? {
        try ClusterTree(root: table(key).objects, space: writes.space, shift: clusterShift).row(at: position)?.key
    }

    /// Returns the keys of all objects in ascending order.
    ///
    /// - Complexity: O(number of objects), in time and memory.
    func objectKeys(in key: TableKey) throws(StorageError) -> [ObjectKey] { try keys(below: table(key).objects) }

    /// Returns all keys of a tree of objects or tombstones in ascending order; none for `Ref.none`.
    func keys(below root: Ref) throws(StorageError) -> [ObjectKey] {
        guard !root.isNone else { return [] }
        var keys: [ObjectKey] = []
        var cursor = ClusterTree(root: root, space: writes.space, shift: clusterShift).leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count { keys.append(leaf.key(at: row)) }
        }
        return keys
    }

    // MARK: - Changing

    /// Returns the writers of a table, made once for each state of its columns.
    func writers(_ state: TableState) -> TableWriters {
        if let known = tableWriters[state.key.position], known.columnSet === state.columnSet { return known }
        let made = TableWriters(writes, state, shift: clusterShift)
        tableWriters[state.key.position] = made
        return made
    }

    /// Replaces the leaf that holds a column of an object.
    ///
    /// - Parameters:
    ///   - object: The object, which must exist; a negative key names a tombstone.
    ///   - change: Returns the ref of the leaf that takes the place of `leaf`; the object's value
    ///     is in `row`.
    func updateLeaf(
        _ column: Column, of object: ObjectKey, in key: TableKey,
        _ change: (_ leaf: Ref, _ row: Int) throws(StorageError) -> Ref
    ) throws(StorageError) {
        let state = try table(key)
        let isTombstone = object.rawValue < 0
        let root = try writers(state).cluster.update(
            object, leafIndex: column.leafIndex, in: isTombstone ? state.tombstones : state.objects, change)
        try update(key) { state in
            if isTombstone { state.tombstones = root } else { state.objects = root }
        }
    }

    /// Stores a value in the leaf of a column that is not a collection, without changing indexes or backlinks.
    func updateLeaf(
        _ column: Column, of object: ObjectKey, in key: TableKey, setting value: Value
    ) throws(StorageError) {
        let writers = writers(try table(key))
        guard let writer = writers.leaf(column) else { throw WriteTransaction.noCollection }
        try updateLeaf(column, of: object, in: key) { leaf, row throws(StorageError) in
            try writer.set(value, at: row, in: leaf)
        }
        try keepEnumerations(writers, key)
    }

    /// Stores the roots of the lists of distinct strings that have changed in the spec of the table.
    func keepEnumerations(_ writers: TableWriters, _ key: TableKey) throws(StorageError) {
        for (position, enumeration) in writers.enumerations where try table(key).spec.enumerations?[position] != enumeration.root
        {
            try update(key) { [writes] state in
                state.spec.enumerations?[position] = enumeration.root
                state.schemaDidChange(writes.space)
            }
        }
    }

    /// Returns the root of the collection in a property, or of the backlinks in a hidden column.
    func collectionRoot(_ column: Column, of object: ObjectKey, in key: TableKey) throws(StorageError) -> Ref {
        let row = try existingRow(object, in: key)
        return try row.leaf.collectionRoot(column, row: row.index)
    }

    /// Stores the root of the collection that a property of an object holds.
    func setCollectionRoot(
        _ root: Ref, _ column: Column, of object: ObjectKey, in key: TableKey
    ) throws(StorageError) {
        let writer = LeafWriter(writes, .refs, inCluster: true)
        try updateLeaf(column, of: object, in: key) { leaf, row throws(StorageError) in
            try writer.setRef(root, at: row, in: leaf)
        }
    }
}
