// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Finds objects by the keys that their rows have in the tables of a version. One thread at a time uses it.
final class KeyLookup {
    /// The result of a search.
    enum Answer {
        case row(Row)
        /// No row can have the key.
        case none
        /// The key has another form, which only a comparison of all rows decides.
        case unknown
    }

    private let made: RelationalSchema.Class
    private let owners: EmbeddedOwners?

    init(_ made: RelationalSchema.Class, in tables: LiveTables) {
        self.made = made
        owners = made.table.kind == .embedded ? EmbeddedOwners(of: made.table, in: tables) : nil
    }

    /// Returns the object whose row has a key.
    func find(_ key: SQLiteStatement.Found) throws -> Answer {
        if case .null = key { return .none }
        switch made.key {
        case .object, .number: return try answer(try integer(key).map { try made.table.find(ObjectKey($0)) })
        case .keyText:
            guard case .text(let bytes) = key, let text = String(validating: bytes) else { return .unknown }
            return try answer(.some(try KeyText.find(text, in: made.table)))
        case .primary(let column):
            guard let value = value(key, column) else {
                // A number may be equal to the digits of a text or of an identifier.
                if case .text = key, column.type != .int { return .none }
                return .unknown
            }
            return try answer(.some(try value.use { value throws(StorageError) in try made.table.findByPrimaryKey(value) }))
        }
    }

    /// Returns the answer for an object that was found or not; nil for a key of another form.
    private func answer(_ found: Row??) throws -> Answer {
        guard let found else { return .unknown }
        guard let row = found, try owners?.shows(row) ?? true else { return .none }
        return .row(row)
    }

    private func integer(_ key: SQLiteStatement.Found) -> Int64? {
        if case .int(let number) = key { return number }
        return nil
    }

    /// Returns a key as a value of the primary key; nil for one of another form.
    private func value(_ key: SQLiteStatement.Found, _ column: Column) -> OwnedValue? {
        switch (column.type, key) {
        case (.int, .int(let number)): return OwnedValue(.int(number))
        case (.string, .text(let bytes)), (.string, .blob(let bytes)): return .string(bytes)
        case (.objectID, .text(let bytes)):
            return String(validating: bytes).flatMap { ObjectID($0) }.map { OwnedValue(.objectID($0)) }
        case (.uuid, .text(let bytes)): return String(validating: bytes).flatMap { UUIDValue($0) }.map { OwnedValue(.uuid($0)) }
        default: return nil
        }
    }
}

extension String {
    /// Decodes UTF-8; nil for bytes that are not.
    init?(validating bytes: [UInt8]) {
        guard let text = ByteView.withBytes(of: bytes, { $0.validatedString }) else { return nil }
        self = text
    }
}

/// Finds out whether embedded objects belong to objects that the reader of a version sees. An export has no others.
final class EmbeddedOwners {
    /// The incoming links of one class that its owners may have.
    private struct Link {
        let backlinks: Column
        let origin: Table
    }

    private let snapshot: Snapshot
    private let budget: WorkBudget
    private let table: Table
    /// The links to each class, once they were needed.
    private var links: [TableKey: [Link]] = [:]
    /// As many as exports permit.
    private static let maximumNesting = 128

    init(of table: Table, in tables: LiveTables) {
        snapshot = tables.snapshot
        budget = tables.budget
        self.table = table
    }

    /// Whether an object belongs to a visible one.
    func shows(_ row: Row) throws(StorageError) -> Bool { try shows(row, of: table, depth: 0) }

    private func shows(_ row: Row, of table: Table, depth: Int) throws(StorageError) -> Bool {
        guard depth <= EmbeddedOwners.maximumNesting else { return false }
        for link in links(to: table) {
            try budget.spend()
            for key in try row.leaf.backlinks(link.backlinks, row: row.index).keys() {
                guard let owner = try link.origin.find(key) else { continue }
                guard link.origin.kind == .embedded else { return true }
                if try shows(owner, of: link.origin, depth: depth + 1) { return true }
            }
        }
        return false
    }

    /// Returns the links to a class from properties that are visible.
    private func links(to table: Table) -> [Link] {
        if let known = links[table.key] { return known }
        var found: [Link] = []
        for backlinks in (snapshot.whole.table(table.key) ?? table).backlinks {
            guard let origin = backlinks.targetTable.flatMap({ snapshot.table($0) }), let opposite = backlinks.oppositeColumn,
                origin.columns.contains(where: { $0.leafIndex == opposite.leafIndex })
            else { continue }
            found.append(Link(backlinks: backlinks, origin: origin))
        }
        links[table.key] = found
        return found
    }
}
