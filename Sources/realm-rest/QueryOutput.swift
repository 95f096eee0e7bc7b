// SPDX-License-Identifier: Apache-2.0

import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmQuery
import RealmStorage

/// Formats the results of the command `query`, and passes the text on in pieces of about 64 KiB.
struct QueryOutput {
    /// The format in which the objects are written.
    private let format: QueryCommand.Format
    /// The table of the class whose objects are written.
    private let table: Table
    /// The plan by which objects are encoded: the properties and how each is written.
    private let plan: ObjectPlan
    /// Writes objects as JSON, for the formats `json` and `ndjson`.
    private let encoder: ObjectEncoder
    /// Writes objects as lines of comma-separated values, for the format `csv`.
    private let csv: CSVWriter
    /// The text that was not passed on yet.
    private let buffer = OutputBuffer(capacity: 1 << 16)
    /// Receives the pieces of the text in their order.
    private let emit: ([UInt8]) throws -> Void
    /// Writes JSON into `buffer`.
    private var writer: JSONWriter

    /// Makes an output for the objects of a class.
    ///
    /// - Parameters:
    ///   - snapshot: The version that the objects belong to.
    ///   - emit: Receives the pieces of the text in their order.
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

    /// Writes the text before the objects: the bracket of an array, or the header line of CSV.
    mutating func begin() throws {
        switch format {
        case .json: writer.beginArray()
        case .csv: csv.writeHeader(to: buffer)
        case .ndjson, .keys: break
        }
    }

    /// Writes one object.
    ///
    /// - Throws: `StorageError` when it cannot be read, and the errors of `emit`.
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
        try buffer.forEachPiece(emit)
        buffer.removeAll()
    }

    /// Writes the text after the objects, and passes on the rest.
    mutating func end() throws {
        if format == .json {
            writer.endArray()
            writer.newLine()
        }
        try buffer.forEachPiece(emit)
    }
}
