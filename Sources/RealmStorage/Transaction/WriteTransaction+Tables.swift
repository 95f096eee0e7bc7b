// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Tables: they are created, removed and renamed; and the schema version, which has a table of its own.
extension WriteTransaction {
    /// The greatest length of the name of a table or column, in bytes of UTF-8.
    package static let maximumNameByteCount = 63

    /// Makes an empty table. Columns are added with `addColumn`, the primary key is set with `setPrimaryKey`.
    ///
    /// - Parameters:
    ///   - name: The full name, with the prefix `class_` for tables of objects.
    ///   - kind: Whether objects are top-level or embedded.
    /// - Returns: The key of the new table.
    /// - Throws: `.limit` for a name that is taken, empty or too long, or when the file has no room
    ///   for a table.
    package func createTable(_ name: String, kind: TableKind = .topLevel) throws(StorageError) -> TableKey {
        try requireName(name)
        guard !isTaken(name) else { throw .limit("there is already a table named '\(name)'") }
        let key = try insertTable(name, kind)
        changes.append(.schema(key))
        return key
    }

    /// Returns how many tables there are, removed ones not counted.
    package func tableCount() -> Int { presentTableCount }

    /// Returns how many columns a table has, hidden ones not counted.
    package func columnCount(of key: TableKey) throws(StorageError) -> Int { try table(key).spec.names.count }

    /// Gives a table another name; links to it stay.
    ///
    /// - Throws: `.limit` for a name that is taken, empty or too long.
    package func renameTable(_ key: TableKey, to name: String) throws(StorageError) {
        try requireName(name)
        if let other = try table(named: name), other.key != key {
            throw .limit("there is already a table named '\(name)'")
        }
        try rename(key, to: name)
        changes.append(.schema(key))
    }

    /// Removes a table with its objects and everything that belongs to them.
    ///
    /// - Throws: `.limit` while another table has link columns to it.
    /// - Complexity: O(number of objects and links).
    package func removeTable(_ key: TableKey) throws(StorageError) {
        if let origin = try incomingOrigin(key) {
            throw .limit("'\(try table(origin).name)' has links to '\(try table(key).name)'")
        }
        try deleteAllObjects(in: key)
        // Values of other tables may link to them.
        try eraseTombstones(of: key)
        for column in try table(key).columns.reversed() { try removeColumn(column.key, of: key) }
        for column in try table(key).backlinks { try dropBacklinkColumn(column.key, of: key) }
        let ref = try update(key) { [writes] state throws(StorageError) in try state.flush(writes) }
        try writes.discardTree(ref)
        dropTable(key)
        changes.append(.schema(key))
    }

    /// Returns another table whose link columns point to this one; nil when there is none.
    private func incomingOrigin(_ key: TableKey) throws(StorageError) -> TableKey? {
        for column in try table(key).backlinks {
            guard let origin = column.targetTable, origin != key, let originColumn = column.oppositeColumn,
                try hasTable(origin), let opposite = try table(origin).column(originColumn), opposite.type == .link
            else { continue }
            return origin
        }
        return nil
    }

    /// Makes a table embedded or top-level. The caller has checked that its objects meet the conditions for that.
    package func setKind(_ kind: TableKind, of key: TableKey) throws(StorageError) {
        try update(key) { [writes] state in
            state.kind = kind
            state.schemaDidChange(writes.space)
        }
        changes.append(.schema(key))
    }

    /// Checks the length of a name; throws `.limit` for one that is empty or too long.
    func requireName(_ name: String) throws(StorageError) {
        guard !name.isEmpty, name.utf8.count <= WriteTransaction.maximumNameByteCount else {
            throw .limit("a name has 1 to \(WriteTransaction.maximumNameByteCount) bytes, not \(name.utf8.count)")
        }
    }

    // MARK: - Schema version

    /// The name of the SDKs' table that holds the schema version.
    private static let metadata = "metadata"

    /// Stores the schema version where the SDKs read it; nil means "not versioned".
    ///
    /// The number is the only object of a table of its own, which is made if there is none.
    package func setSchemaVersion(_ version: UInt64?) throws(StorageError) {
        let known = try table(named: WriteTransaction.metadata)?.key
        let key = if let known { known } else { try createTable(WriteTransaction.metadata) }
        if try table(key).column(named: "version") == nil { _ = try addColumn(ColumnDefinition("version", .int), to: key) }
        guard let column = try table(key).column(named: "version") else { return }
        let first = try object(at: 0, in: key)
        let object = if let first { first } else { try createObject(in: key) }
        try set(.int(version.map(Int64.init(bitPattern:)) ?? -1), column, of: object, in: key)
    }
}
