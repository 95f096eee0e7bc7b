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
    /// Makes the values of the rows.
    private let cells: RelationalCells
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
        cells = RelationalCells(schema, snapshot, budget)
    }

    /// Writes one object, and everything that is embedded in it.
    ///
    /// - Throws: An error of storage, or an error of the sink.
    func write(_ row: Row, of table: Table) throws {
        guard let made = schema.classes[table.key] else { return }
        try write(row, made, key: try cells.key(of: row, made))
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

    /// Returns the value of a column for a value or an element. An embedded object is written now.
    private func cell(_ value: Value, _ column: Column) throws -> RelationalCell {
        let cell = try cells.cell(value, column)
        if column.type == .link, case .number = cell { try writeEmbedded(value) }
        return cell
    }

    /// Writes the object that a link leads to, if it is embedded.
    private func writeEmbedded(_ value: Value) throws {
        guard case .link(let tableKey, let key) = value, let made = schema.classes[tableKey], made.table.kind == .embedded,
            let row = try made.table.find(key)
        else { return }
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= RelationalWalk.maximumNesting else {
            throw StorageError.corrupt(
                ref: row.leaf.node.ref, reason: "objects embedded deeper than \(RelationalWalk.maximumNesting)")
        }
        try write(row, made, key: .number(key.rawValue))
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
            let name = RelationalCells.name(of: entry.key)
            try add([owner, .text(name), try cell(entry.value, column)], to: position)
        }
    }
}
