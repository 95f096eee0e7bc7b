// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes objects as rows of the tables of a `RelationalSchema`.
///
/// It reads through the same views as every other response, so hidden objects and properties become no row and no value. One
/// export uses it, on one thread at a time.
final class RelationalWalk {
    /// The tables.
    private let schema: RelationalSchema
    /// The version that is read.
    private let snapshot: Snapshot
    /// The work that may be done.
    private let budget: WorkBudget
    /// Takes the rows.
    private let sink: any RelationalSink
    /// Writes values of Mixed.
    private let encoder: ObjectEncoder
    /// The number of embedded objects of each class so far, by the positions of their tables.
    private var numbers: [Int: Int64] = [:]
    /// The nesting depth of embedded objects at the moment.
    private var nesting = 0
    /// The number of bytes of rows that were begun and are not with the sink yet.
    private var begunBytes = 0
    /// As many as `ObjectEncoder` permits.
    private static let maximumNesting = 128

    /// Creates a walk.
    ///
    /// - Parameters:
    ///   - schema: The tables.
    ///   - snapshot: The version, as its reader sees it.
    ///   - budget: The work that may be done.
    ///   - sink: Takes the rows.
    init(_ schema: RelationalSchema, _ snapshot: Snapshot, _ budget: WorkBudget, to sink: any RelationalSink) {
        self.schema = schema
        self.snapshot = snapshot
        self.budget = budget
        self.sink = sink
        encoder = ObjectEncoder(snapshot, Representation(), budget)
    }

    /// Writes one object, and everything that is embedded in it.
    ///
    /// - Throws: An error of storage, or an error of the sink.
    func write(_ row: Row, of table: Table) throws {
        guard let made = schema.classes[table.key] else { return }
        try write(row, made, key: try key(of: row, made))
    }

    private func key(of row: Row, _ made: RelationalSchema.Class) throws(StorageError) -> RelationalCell {
        switch made.key {
        case .primary(let column): return .value(try row.value(column))
        case .keyText: return .text(try KeyText.text(of: row, in: made.table))
        case .object: return .number(row.key.rawValue)
        case .number: return .null
        }
    }

    /// Writes one object under a key.
    private func write(_ row: Row, _ made: RelationalSchema.Class, key: RelationalCell) throws {
        try budget.spend(made.members.count + 1)
        let before = begunBytes
        defer { begunBytes = before }
        var cells = [key]
        cells.reserveCapacity(made.members.count + 1)
        for member in made.members {
            switch member.place {
            case .column:
                let cell = try cell(try row.value(member.column), member.column)
                begunBytes += cell.byteCount
                try budget.requireRoom(for: begunBytes)
                cells.append(cell)
            case .collection(let position): try writeElements(of: member.column, row, key, to: position)
            }
        }
        try add(cells, to: made.position)
    }

    /// Passes on a row, which must not be longer than a document, and counts the work.
    private func add(_ cells: [RelationalCell], to position: Int) throws {
        let byteCount = cells.reduce(0) { $0 + $1.byteCount }
        try budget.spend(WorkBudget.units(forBytes: byteCount))
        try budget.requireRoom(for: byteCount)
        try sink.add(cells, to: position)
    }

    /// Returns the value of a column for a value or an element.
    private func cell(_ value: Value, _ column: Column) throws -> RelationalCell {
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

    /// Returns the key of the object that a link leads to; null for one that its reader does not see. An
    /// embedded object is written now, under the next number.
    private func link(_ value: Value) throws -> RelationalCell {
        guard case .link(let tableKey, let key) = value, let table = snapshot.table(tableKey), let row = try table.find(key)
        else { return .null }
        guard table.kind == .embedded else {
            if let made = schema.classes[tableKey] { return try self.key(of: row, made) }
            return try self.key(of: row, .init(table: table, position: 0, key: RelationalSchema.key(of: table)))
        }
        guard let made = schema.classes[tableKey] else { return .null }
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= RelationalWalk.maximumNesting else {
            throw StorageError.corrupt(
                ref: row.leaf.node.ref, reason: "objects embedded deeper than \(RelationalWalk.maximumNesting)")
        }
        let number = (numbers[made.position] ?? 0) + 1
        numbers[made.position] = number
        try write(row, made, key: .number(number))
        return .number(number)
    }

    /// Writes the elements of a collection.
    private func writeElements(of column: Column, _ row: Row, _ owner: RelationalCell, to position: Int) throws {
        guard column.collection == .dictionary else {
            var elements = try row.list(column, in: snapshot).elements()
            var index: Int64 = 0
            while let element = try elements.next() {
                try budget.spend()
                try add([owner, .number(index), try cell(element, column)], to: position)
                index += 1
            }
            return
        }
        var entries = try row.dictionary(column, in: snapshot).entries()
        while let entry = try entries.next() {
            try budget.spend()
            let name: String
            switch entry.key {
            case .text(let bytes): name = bytes.validatedString ?? "@b64." + Base64.encode(bytes.array, .url)
            case .integer(let number): name = String(number)
            }
            try add([owner, .text(name), try cell(entry.value, column)], to: position)
        }
    }
}
