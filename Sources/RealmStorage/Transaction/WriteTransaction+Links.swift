// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Links and the backlinks that their targets keep of them.
///
/// A hidden column of the target holds the keys of the origins, one for each link: 0, a tagged key, or a B+ tree. Source:
/// docs/format.md, "Backlinks".
extension WriteTransaction {
    /// A link as it is stored; a negative key names a tombstone.
    package struct StoredLink: Sendable, Equatable {
        /// The table of the target.
        package let table: TableKey
        /// The target of the link.
        package let object: ObjectKey
    }

    /// Adds a backlink to the target of a link.
    ///
    /// - Parameters:
    ///   - link: The target.
    ///   - origin: The object that holds the link.
    ///   - column: The property that holds the link.
    ///   - key: The table of `origin`.
    /// - Throws: `.corrupt` when the target does not exist.
    func addBacklink(
        to link: StoredLink, from origin: ObjectKey, _ column: Column, in key: TableKey
    ) throws(StorageError) {
        let hidden = try backlinkColumn(in: link.table, of: column, key)
        try updateLeaf(hidden, of: link.object, in: link.table) { leaf, row throws(StorageError) in
            try addRecord(origin, at: row, in: leaf)
        }
    }

    /// Removes one backlink from the target of a link; a tombstone that loses its last one is removed.
    ///
    /// A target that does not exist, or a backlink that is missing, is ignored: files contain such inconsistencies.
    ///
    /// - Parameters:
    ///   - link: The target.
    ///   - origin: The object that held the link.
    ///   - column: The property that held the link.
    ///   - key: The table of `origin`.
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

    /// Returns the hidden column of the target that has the backlinks of a property.
    private func backlinkColumn(
        in target: TableKey, of column: Column, _ key: TableKey
    ) throws(StorageError) -> Column {
        if column.type == .link, let opposite = column.oppositeColumn, let hidden = try table(target).column(opposite) {
            return hidden
        }
        return try backlinkColumn(in: target, from: key, column.key)
    }

    /// The writer of trees of backlinks.
    private var recordWriter: BPlusTreeWriter {
        BPlusTreeWriter(writes, ElementShape(type: .int, isNullable: false))
    }

    /// Adds a key to the backlinks in `row` of a leaf: the first is stored in the slot, the second makes a tree.
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

    /// Removes a key from the backlinks in `row` of a leaf, once.
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

    /// Removes a key from a tree of backlinks by moving the last key into its place; when one key
    /// is left, it is stored in the slot instead of the tree.
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

    /// Returns the number of links to an object, from all columns of all tables.
    ///
    /// - Throws: `.corrupt` when the object does not exist.
    func backlinkCount(of link: StoredLink) throws(StorageError) -> Int {
        let row = try existingRow(link.object, in: link.table)
        var count = 0
        for column in try table(link.table).backlinks { count += try row.leaf.backlinks(column, row: row.index).count }
        return count
    }

    /// Removes a tombstone that no link points to any more; live objects stay.
    private func dropTombstoneIfUnused(_ link: StoredLink) throws(StorageError) {
        guard link.object.rawValue < 0, try backlinkCount(of: link) == 0 else { return }
        try eraseTombstone(link.object, in: link.table)
    }

    /// Removes all tombstones of a table, and every link to them.
    func eraseTombstones(of key: TableKey) throws(StorageError) {
        for ghost in try keys(below: table(key).tombstones) {
            try spend()
            try nullifyIncoming(of: StoredLink(table: key, object: ghost))
            try eraseTombstone(ghost, in: key)
        }
    }

    /// Removes a tombstone, which must exist, without regard to links.
    func eraseTombstone(_ object: ObjectKey, in key: TableKey) throws(StorageError) {
        let state = try table(key)
        let root = try writers(state).cluster.erase(object, in: state.tombstones)
        try update(key) { $0.tombstones = root }
    }
}
