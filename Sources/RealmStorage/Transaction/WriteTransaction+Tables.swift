// SPDX-License-Identifier: Apache-2.0

/// Tables: made, removed, renamed, and the schema version beside them.
extension WriteTransaction {
    /// Longest name of a table or column in bytes.
    package static let maximumNameByteCount = 63

    /// Makes an empty table. Primary keys are made with `addColumn` and `setPrimaryKey`.
    package func createTable(_ name: String, kind: TableKind = .topLevel) throws(StorageError) -> TableKey {
        try requireName(name)
        guard try table(named: name) == nil else { throw .limit("there is already a table named '\(name)'") }
        let key = try insertTable(name, kind)
        changes.append(.schema(key))
        return key
    }

    /// How many tables there are.
    package func tableCount() -> Int { presentTableCount }

    /// How many public columns a table has.
    package func columnCount(of key: TableKey) throws(StorageError) -> Int { try table(key).spec.names.count }

    /// Gives a table another name; links to it stay.
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
    /// Throws `.limit` while another table has links to it. Hidden columns of Mixed links that no longer exist are removed.
    package func removeTable(_ key: TableKey) throws(StorageError) {
        if let origin = try incomingOrigin(key) {
            throw .limit("'\(try table(origin).name)' has links to '\(try table(key).name)'")
        }
        try deleteAllObjects(in: key)
        for column in try table(key).columns.reversed() { try removeColumn(column.key, of: key) }
        for column in try table(key).backlinks { try dropBacklinkColumn(column.key, of: key) }
        let ref = try update(key) { [writes] state throws(StorageError) in try state.flush(writes) }
        try writes.discardTree(ref)
        dropTable(key)
        changes.append(.schema(key))
    }

    /// Another table whose link columns point to this one.
    private func incomingOrigin(_ key: TableKey) throws(StorageError) -> TableKey? {
        for column in try table(key).backlinks {
            guard let origin = column.targetTable, origin != key, let originColumn = column.oppositeColumn,
                try hasTable(origin), let opposite = try table(origin).column(originColumn), opposite.type == .link
            else { continue }
            return origin
        }
        return nil
    }

    /// Makes a table embedded or not. What its objects must fulfil for that is checked by the caller.
    package func setKind(_ kind: TableKind, of key: TableKey) throws(StorageError) {
        try update(key) { [writes] state in
            state.kind = kind
            state.schemaDidChange(writes.space)
        }
        changes.append(.schema(key))
    }

    /// Throws `.limit` for a name that is empty, too long or taken.
    func requireName(_ name: String) throws(StorageError) {
        guard !name.isEmpty, name.utf8.count <= WriteTransaction.maximumNameByteCount else {
            throw .limit("a name has 1 to \(WriteTransaction.maximumNameByteCount) bytes, not \(name.utf8.count)")
        }
    }

    // MARK: - Schema version

    /// The table of the SDK that holds the schema version.
    private static let metadata = "metadata"

    /// Stores the schema version where the SDKs look for it; nil means "not versioned".
    ///
    /// SDKs keep the number in a table of their own, which is made if there is none.
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
