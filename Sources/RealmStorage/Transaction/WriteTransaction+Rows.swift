// SPDX-License-Identifier: Apache-2.0

/// Where objects are, and how one column of one of them is changed.
extension WriteTransaction {
    /// The object, or nil; a negative key names a tombstone.
    ///
    /// The row borrows from the state of this moment and must not be used after the next change.
    package func row(_ object: ObjectKey, in key: TableKey) throws(StorageError) -> Row? {
        try ClusterTree(root: try root(of: object, in: key), space: writes.space, shift: clusterShift).find(object)
    }

    /// The row of an object. Throws `.limit` when it does not exist.
    func existingRow(_ object: ObjectKey, in key: TableKey) throws(StorageError) -> Row {
        guard let row = try row(object, in: key) else {
            throw .corrupt(ref: .none, reason: "no object \(object.rawValue) in '\(try table(key).name)'")
        }
        return row
    }

    /// The value of a property without collection. Unresolved links read as null.
    ///
    /// Texts and bytes in it are valid until the next change of the leaf.
    package func value(_ column: Column, of object: ObjectKey, in key: TableKey) throws(StorageError) -> Value {
        try existingRow(object, in: key).value(column)
    }

    /// How many objects a table has.
    package func count(in key: TableKey) throws(StorageError) -> Int {
        try ClusterTree(root: table(key).objects, space: writes.space, shift: clusterShift).count()
    }

    /// The object at a position in key order, or nil past the end.
    package func object(at position: Int, in key: TableKey) throws(StorageError) -> ObjectKey? {
        try ClusterTree(root: table(key).objects, space: writes.space, shift: clusterShift).row(at: position)?.key
    }

    /// The keys of all objects in order.
    func objectKeys(in key: TableKey) throws(StorageError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var cursor = ClusterTree(root: try table(key).objects, space: writes.space, shift: clusterShift).leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count { keys.append(leaf.key(at: row)) }
        }
        return keys
    }

    // MARK: - Changing

    /// The writers of a table, made once for each state of its columns.
    func writers(_ state: TableState) -> TableWriters {
        if let known = tableWriters[state.key.position], known.columnSet === state.columnSet { return known }
        let made = TableWriters(writes, state, shift: clusterShift)
        tableWriters[state.key.position] = made
        return made
    }

    /// Replaces the leaf that holds a column of an object by what `change` makes of it.
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

    /// Puts a value into the leaf of a column without collection.
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

    /// Lists of distinct strings may have grown.
    func keepEnumerations(_ writers: TableWriters, _ key: TableKey) throws(StorageError) {
        for (position, enumeration) in writers.enumerations where try table(key).spec.enumerations?[position] != enumeration.root
        {
            try update(key) { [writes] state in
                state.spec.enumerations?[position] = enumeration.root
                state.schemaDidChange(writes.space)
            }
        }
    }

    /// The root of the collection in a property, or of the backlinks in a hidden column.
    func collectionRoot(_ column: Column, of object: ObjectKey, in key: TableKey) throws(StorageError) -> Ref {
        let row = try existingRow(object, in: key)
        return try row.leaf.collectionRoot(column, row: row.index)
    }

    /// Stores the root of the collection that a property holds.
    func setCollectionRoot(
        _ root: Ref, _ column: Column, of object: ObjectKey, in key: TableKey
    ) throws(StorageError) {
        let writer = LeafWriter(writes, .refs, inCluster: true)
        try updateLeaf(column, of: object, in: key) { leaf, row throws(StorageError) in
            try writer.setRef(root, at: row, in: leaf)
        }
    }
}
