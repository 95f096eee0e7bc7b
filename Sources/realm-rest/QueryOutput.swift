// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP
import RealmQuery
import RealmStorage

/// The objects of a result as text, handed on piece by piece.
struct QueryOutput {
    private let format: QueryCommand.Format
    private let table: Table
    private let plan: ObjectPlan
    private let encoder: ObjectEncoder
    private let csv: CSVWriter
    private let buffer = OutputBuffer(capacity: 1 << 16)
    private let emit: ([UInt8]) throws -> Void
    private var writer: JSONWriter

    init(
        _ format: QueryCommand.Format, _ table: Table, _ snapshot: Snapshot, emit: @escaping ([UInt8]) throws -> Void
    ) throws {
        self.emit = emit
        self.format = format
        self.table = table
        plan = try ObjectPlanner(snapshot).plan(table)
        encoder = ObjectEncoder(snapshot, Representation())
        csv = CSVWriter(plan, snapshot, Representation())
        writer = JSONWriter(buffer)
    }

    mutating func begin() throws {
        switch format {
        case .json: writer.beginArray()
        case .csv: csv.writeHeader(to: buffer)
        case .ndjson, .keys: break
        }
    }

    mutating func write(_ row: Row) throws {
        switch format {
        case .json: try encoder.write(row, plan, to: &writer)
        case .ndjson:
            try encoder.write(row, plan, to: &writer)
            writer.newLine()
        case .csv: try csv.write(row, to: buffer)
        case .keys: buffer.append(try KeyText.text(of: row, in: table) + "\n")
        }
        guard buffer.count > 1 << 16 else { return }
        try emit(buffer.array)
        buffer.removeAll()
    }

    mutating func end() throws {
        if format == .json {
            writer.endArray()
            writer.newLine()
        }
        try emit(buffer.array)
    }
}
