// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes of columns: they are added, removed, renamed and indexed, and made primary keys.
extension WriteTransaction {
    /// Adds a column with the default value in every object, and for links the hidden column in the target.
    ///
    /// The default is null where that is allowed, else zero, empty or the epoch.
    ///
    /// - Parameters:
    ///   - definition: The name, type and attributes, and the index to build.
    /// - Returns: The key of the new column.
    /// - Throws: `.limit` for a name that is taken or too long, or when the table has no room for a
    ///   column.
    /// - Complexity: O(number of objects).
    @discardableResult
    package func addColumn(_ definition: ColumnDefinition, to key: TableKey) throws(StorageError) -> ColumnKey {
        try requireName(definition.name)
        let isTaken = try update(key) { state throws(StorageError) in state.spec.contains(definition.name) }
        guard !isTaken else { throw .limit("there is already a column named '\(definition.name)'") }
        let column = try insertColumn(definition, name: definition.name, in: key)
        if definition.type == .link, let target = definition.target { try connect(column, of: key, to: target) }
        if let index = definition.index { try addIndex(index, to: column, of: key) }
        return column
    }

    /// Adds a column to the spec and to all leaves; `name` is nil for a hidden one.
    private func insertColumn(
        _ definition: ColumnDefinition, name: String?, in key: TableKey
    ) throws(StorageError) -> ColumnKey {
        let column = try update(key) { [writes] state throws(StorageError) -> ColumnKey in
            let index = state.spec.freeLeafIndex()
            guard index < 0xffff else { throw .limit("a table may have at most 65535 columns") }
            let tag = UInt32(truncatingIfNeeded: state.columnSequence ^ UInt64(state.key.rawValue))
            let column = ColumnKey(index: index, definition, tag: tag)
            state.spec.insert(
                column, type: definition.typeWord, attributes: Int64(definition.keyAttributes.rawValue), name: name)
            state.setIndexRoot(.none, leafIndex: index)
            state.setOpposite(.null, .null, leafIndex: index)
            state.schemaDidChange(writes.space)
            return column
        }
        try addLeaves(of: column, in: key)
        changes.append(.schema(key))
        return column
    }

    /// Makes the hidden column of incoming links in the target of a new link column, and stores in
    /// both columns which is the other end.
    private func connect(_ column: ColumnKey, of key: TableKey, to target: TableKey) throws(StorageError) {
        let backlinks = try insertColumn(ColumnDefinition("", .backlink), name: nil, in: target)
        try setOpposite(of: column, in: key, to: target, backlinks)
        try setOpposite(of: backlinks, in: target, to: key, column)
    }

    /// Returns the column of `target` that holds the backlinks of a Mixed column, which is made when there is none.
    func backlinkColumn(in target: TableKey, from key: TableKey, _ column: ColumnKey) throws(StorageError) -> Column {
        if let known = try table(target).backlinkColumn(from: key, column) { return known }
        let made = try insertColumn(ColumnDefinition("", .backlink), name: nil, in: target)
        try setOpposite(of: made, in: target, to: key, column)
        guard let column = try table(target).column(made) else { throw .corrupt(ref: .none, reason: "a lost column") }
        return column
    }

    /// Stores the table and column that are the other end of a link column.
    private func setOpposite(
        of column: ColumnKey, in key: TableKey, to table: TableKey, _ opposite: ColumnKey
    ) throws(StorageError) {
        try update(key) { [writes] state throws(StorageError) in
            state.setOpposite(table, opposite, leafIndex: column.leafIndex)
            state.schemaDidChange(writes.space)
        }
    }

    /// Gives a column another name; values, index and links stay.
    ///
    /// - Throws: `.limit` for a name that is taken, empty or too long.
    package func renameColumn(_ column: ColumnKey, of key: TableKey, to name: String) throws(StorageError) {
        try requireName(name)
        if let other = try table(key).column(named: name), other.key != column {
            throw .limit("there is already a column named '\(name)'")
        }
        try update(key) { [writes] state throws(StorageError) in
            guard let position = state.spec.position(of: column), position < state.spec.names.count else { return }
            state.spec.names[position] = name
            state.schemaDidChange(writes.space)
        }
        changes.append(.schema(key))
    }

    /// Removes a column with its values, its index, the embedded objects that it owns and the backlinks of its links.
    ///
    /// A column that the table does not have is ignored.
    ///
    /// - Complexity: O(number of objects), and for links O(number of links).
    package func removeColumn(_ column: ColumnKey, of key: TableKey) throws(StorageError) {
        guard let known = try table(key).column(column) else { return }
        if known.type == .link || known.type == .mixed { try clearLinks(of: known, in: key) }
        try discardIndex(known, of: key)
        try dropLeaves(of: known, in: key)
        if known.type == .link, let target = known.targetTable, let opposite = known.oppositeColumn {
            try dropBacklinkColumn(opposite, of: target)
        }
        if known.type == .mixed { try dropBacklinkColumns(from: key, column) }
        try forget(column, of: key)
    }

    /// Removes a hidden column whose link column was removed.
    func dropBacklinkColumn(_ column: ColumnKey, of key: TableKey) throws(StorageError) {
        guard let known = try table(key).column(column) else { return }
        try dropLeaves(of: known, in: key)
        try forget(column, of: key)
    }

    /// Removes the hidden columns in all tables that hold backlinks of a Mixed column. The
    /// reference engine leaves these in the file, and then cannot delete objects that they mention.
    private func dropBacklinkColumns(from key: TableKey, _ column: ColumnKey) throws(StorageError) {
        for target in try tableKeys() {
            guard let known = try table(target).backlinkColumn(from: key, column) else { continue }
            try dropBacklinkColumn(known.key, of: target)
        }
    }

    /// Removes a column from the spec and from the per-column arrays of its table. Its values have been discarded before.
    private func forget(_ column: ColumnKey, of key: TableKey) throws(StorageError) {
        changes.append(.schema(key))
        try update(key) { [writes] state throws(StorageError) in
            guard let position = state.spec.position(of: column) else { return }
            let strings = state.spec.remove(at: position)
            if !strings.isNone { try writes.discardTree(strings) }
            if state.primaryKeyColumn?.leafIndex == column.leafIndex { state.primaryKeyColumn = nil }
            state.setOpposite(.null, .null, leafIndex: column.leafIndex)
            state.columnSequence &+= 1
            state.schemaDidChange(writes.space)
        }
    }

    // MARK: - Indexes and keys

    /// Builds an index from the present values of a column, in place of any index that it has.
    ///
    /// - Parameters:
    ///   - kind: A general or a full-text index.
    /// - Throws: `.limit` for a column whose type cannot have such an index.
    /// - Complexity: O(number of objects).
    package func addIndex(_ kind: IndexKind, to column: ColumnKey, of key: TableKey) throws(StorageError) {
        try setIndexAttribute(kind, of: column, in: key)
        try rebuildIndex(column, of: key)
    }

    /// Removes the index of a column. That of a primary key stays, but is not declared any more.
    package func removeIndex(of column: ColumnKey, in key: TableKey) throws(StorageError) {
        guard let known = try table(key).column(column) else { return }
        try setIndexAttribute(nil, of: column, in: key)
        if try table(key).primaryKeyColumn?.leafIndex != column.leafIndex { try discardIndex(known, of: key) }
    }

    /// Stores in the spec which index is declared for a column; nil for none.
    private func setIndexAttribute(_ kind: IndexKind?, of column: ColumnKey, in key: TableKey) throws(StorageError) {
        try update(key) { [writes] state throws(StorageError) in
            guard let position = state.spec.position(of: column) else { return }
            let bits = Int64(ColumnAttributes.indexed.rawValue | ColumnAttributes.fullText.rawValue)
            let wanted: ColumnAttributes = kind == nil ? [] : kind == .general ? .indexed : .fullText
            state.spec.attributes[position] = state.spec.attributes[position] & ~bits | Int64(wanted.rawValue)
            state.schemaDidChange(writes.space)
        }
    }

    /// Discards the nodes of an index.
    private func discardIndex(_ column: Column, of key: TableKey) throws(StorageError) {
        let root = try table(key).indexRoot(column)
        guard !root.isNone else { return }
        try writes.discardTree(root)
        try update(key) { [writes] state in
            state.setIndexRoot(.none, leafIndex: column.leafIndex)
            state.schemaDidChange(writes.space)
        }
    }

    /// Builds the index of a column from the objects, in place of any that it has.
    func rebuildIndex(_ column: ColumnKey, of key: TableKey) throws(StorageError) {
        guard let known = try table(key).freshColumn(column) else { return }
        try discardIndex(known, of: key)
        let root = try buildIndex(known, of: key)
        try update(key) { [writes] state in
            state.setIndexRoot(root, leafIndex: column.leafIndex)
            state.schemaDidChange(writes.space)
        }
    }

    /// Makes a column the primary key, or leaves the table without one. The caller has checked that values are unique.
    ///
    /// A primary key has a search index without the attribute; the former one loses its index unless it was declared.
    ///
    /// - Parameters:
    ///   - column: The column, or nil for none.
    package func setPrimaryKey(_ column: ColumnKey?, of key: TableKey) throws(StorageError) {
        let former = try table(key).primaryKey
        try update(key) { [writes] state in
            state.primaryKeyColumn = column
            state.schemaDidChange(writes.space)
        }
        changes.append(.schema(key))
        if let former, former.leafIndex != column?.leafIndex, former.declaredIndex == nil {
            try discardIndex(former, of: key)
        }
        if let column, let known = try table(key).column(column), try table(key).indexRoot(known).isNone {
            try rebuildIndex(column, of: key)
        }
    }
}

/// The choice of keys for new columns.
extension ColumnKey {
    /// Makes the key of a new column from its index, type and attributes.
    ///
    /// - Parameters:
    ///   - index: The leaf index.
    ///   - definition: The type and the attributes.
    ///   - tag: A number that distinguishes the column from former ones with the same leaf index.
    ///
    /// Source: docs/format.md, "Keys".
    init(index: Int, _ definition: ColumnDefinition, tag: UInt32) {
        let bits = Int64(definition.keyAttributes.rawValue) << 22 | Int64(definition.type.rawValue) << 16
        self.init(Int64(tag) << 30 | bits | Int64(index))
    }
}
