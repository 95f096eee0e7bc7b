// SPDX-License-Identifier: Apache-2.0

/// Links and their records in the objects they point to.
///
/// A hidden column of the target keeps the keys of the origins, one for each link: 0, a tagged key, or a B+ tree.
/// Source: docs/format.md, "Backlinks".
extension WriteTransaction {
    /// A link as it is stored: negative keys name tombstones.
    package struct StoredLink: Sendable, Equatable {
        /// The table of the object.
        package let table: TableKey
        /// The object that the link points to.
        package let object: ObjectKey
    }

    /// Records a link from `origin` at its target.
    func addBacklink(
        to link: StoredLink, from origin: ObjectKey, _ column: Column, in key: TableKey
    ) throws(StorageError) {
        let hidden = try backlinkColumn(in: link.table, of: column, key)
        try updateLeaf(hidden, of: link.object, in: link.table) { leaf, row throws(StorageError) in
            try addRecord(origin, at: row, in: leaf)
        }
    }

    /// Takes one record of a link back. Returns whether the target has no other from this column.
    ///
    /// A target that is gone, or a record that is missing, is left alone: files hold such remains.
    func removeBacklink(
        to link: StoredLink, from origin: ObjectKey, _ column: Column, in key: TableKey
    ) throws(StorageError) {
        guard try row(link.object, in: link.table) != nil else { return }
        let hidden = try backlinkColumn(in: link.table, of: column, key)
        try updateLeaf(hidden, of: link.object, in: link.table) { leaf, row throws(StorageError) in
            try removeRecord(origin, at: row, in: leaf)
        }
        try dropTombstoneIfUnused(link)
    }

    /// The hidden column that counts the links of a property.
    private func backlinkColumn(
        in target: TableKey, of column: Column, _ key: TableKey
    ) throws(StorageError) -> Column {
        if column.type == .link, let opposite = column.oppositeColumn, let hidden = try table(target).column(opposite) {
            return hidden
        }
        return try backlinkColumn(in: target, from: key, column.key)
    }

    /// Changes lists of incoming links.
    private var recordWriter: BPlusTreeWriter {
        BPlusTreeWriter(writes, ElementShape(type: .int, isNullable: false))
    }

    /// Adds an incoming link to an object.
    private func addRecord(_ origin: ObjectKey, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        let raw = node.integer(row)
        if raw == 0 {
            try node.set(row, tagged: UInt64(bitPattern: origin.rawValue))
        } else if raw & 1 == 1 {
            var root = try recordWriter.makeEmpty()
            root = try recordWriter.append(.int(Int64(UInt64(bitPattern: raw) >> 1)), to: root)
            try node.set(row, try recordWriter.append(.int(origin.rawValue), to: root))
        } else {
            try node.set(row, try recordWriter.append(.int(origin.rawValue), to: node.ref(row)))
        }
        return node.ref
    }

    /// Takes one incoming link off an object.
    private func removeRecord(_ origin: ObjectKey, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        let raw = node.integer(row)
        if raw & 1 == 1 {
            if Int64(UInt64(bitPattern: raw) >> 1) == origin.rawValue { try node.set(row, 0) }
        } else if raw != 0 {
            try removeRecord(origin, fromTreeAt: row, of: &node)
        }
        return node.ref
    }

    /// Overwrites the record with the last one, and drops that; a single one left goes back into the leaf.
    private func removeRecord(
        _ origin: ObjectKey, fromTreeAt row: Int, of node: inout MutableNode
    ) throws(StorageError) {
        var root = node.ref(row)
        let records = try BPlusTree(root: root, space: writes.space, shape: recordWriter.shape).objectKeys()
        try spend(records.count / 8)
        guard let position = records.firstIndex(of: origin), let last = records.last else { return }
        if position < records.count - 1 { root = try recordWriter.set(.int(last.rawValue), at: position, in: root) }
        root = try recordWriter.erase(at: records.count - 1, in: root)
        guard records.count == 2 else { return try node.set(row, root) }
        try writes.discardTree(root)
        try node.set(row, tagged: UInt64(bitPattern: records[position == 0 ? 1 : 0].rawValue))
    }

    /// The number of links to an object from all columns.
    func backlinkCount(of link: StoredLink) throws(StorageError) -> Int {
        let row = try existingRow(link.object, in: link.table)
        var count = 0
        for column in try table(link.table).backlinks { count += try row.leaf.backlinks(column, row: row.index).count }
        return count
    }

    /// Erases a tombstone that nothing points to any more.
    private func dropTombstoneIfUnused(_ link: StoredLink) throws(StorageError) {
        guard link.object.rawValue < 0, try backlinkCount(of: link) == 0 else { return }
        try eraseTombstone(link.object, in: link.table)
    }

    /// Takes a tombstone away that nothing links to any more.
    func eraseTombstone(_ object: ObjectKey, in key: TableKey) throws(StorageError) {
        let state = try table(key)
        let root = try writers(state).cluster.erase(object, in: state.tombstones)
        try update(key) { $0.tombstones = root }
    }
}
