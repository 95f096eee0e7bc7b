// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Makes the values that the rows of relational tables have, as their reader sees them. One thread at a time uses it.
final class RelationalCells {
    private let schema: RelationalSchema
    private let snapshot: Snapshot
    private let budget: WorkBudget
    /// Writes values of Mixed.
    private let encoder: ObjectEncoder

    init(_ schema: RelationalSchema, _ snapshot: Snapshot, _ budget: WorkBudget) {
        self.schema = schema
        self.snapshot = snapshot
        self.budget = budget
        encoder = ObjectEncoder(snapshot, Representation(), budget)
    }

    func key(of row: Row, _ made: RelationalSchema.Class) throws(StorageError) -> RelationalCell {
        switch made.key {
        case .primary(let column): return .value(try row.value(column))
        case .keyText: return .text(try KeyText.text(of: row, in: made.table))
        case .object, .number: return .number(row.key.rawValue)
        }
    }

    /// Returns the value of a column for a value or an element.
    ///
    /// - Throws: An error of storage, or of the budget.
    func cell(_ value: Value, _ column: Column) throws -> RelationalCell {
        if value.isNull { return .null }
        switch column.type {
        case .mixed:
            var writer = JSONWriter()
            try encoder.writeMixed(value, &writer)
            try budget.meet(byteCount: writer.count)
            // A link in Mixed may have a hidden target: the JSON is null then, as the value is.
            return writer.bytes.elementsEqual("null".utf8) ? .null : .json(writer.bytes)
        case .link: return try link(value)
        default:
            try budget.meet(byteCount: value.byteCount)
            return .value(value)
        }
    }

    /// Returns the key of the object that a link leads to; null for one that its reader does not see.
    private func link(_ value: Value) throws(StorageError) -> RelationalCell {
        guard case .link(let tableKey, let key) = value, let table = snapshot.table(tableKey), let row = try table.find(key)
        else { return .null }
        if let made = schema.classes[tableKey] { return try self.key(of: row, made) }
        guard table.kind != .embedded else { return .null }
        return try self.key(of: row, .init(table: table, position: 0, key: RelationalSchema.key(of: table)))
    }

    /// Returns the text of the key of an entry.
    static func name(of key: DictionaryKey) -> String {
        switch key {
        case .text(let bytes): return bytes.validatedString ?? "@b64." + Base64.encode(bytes.array, .url)
        case .integer(let number): return String(number)
        }
    }
}
