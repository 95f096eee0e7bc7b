// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Writes the rows of a statement of SQL: as arrays of JSON, as lines of JSON objects, or as CSV.
package struct SQLRows {
    /// The form of rows in a stream.
    package enum Form: Sendable {
        case ndjson
        case csv
    }

    private let query: SQLQuery
    private let budget: WorkBudget
    package private(set) var values: ValueWriter
    /// The names of the members of a line, which differ.
    private let names: [String]
    private let line = CSVLine()

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - query: The statement, before its first row.
    ///   - representation: The form of values.
    ///   - budget: The limit of work and time per row.
    package init(_ query: SQLQuery, _ representation: Representation, budget: WorkBudget) {
        self.query = query
        self.budget = budget
        values = ValueWriter(representation)
        var taken: Set<ByteText> = []
        names = query.columns.map { column in
            var (name, number) = (column.name, 2)
            while !taken.insert(ByteText(name)).inserted {
                name = "\(column.name)_\(number)"
                number += 1
            }
            return name
        }
    }

    /// Writes the columns as an array.
    package func writeColumns(to writer: inout JSONWriter) {
        writer.beginArray()
        for column in query.columns {
            writer.beginObject()
            writer.member("name", text: column.name)
            writer.member("type", text: column.type)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Writes the present row as an array.
    ///
    /// - Throws: That the document or the row is too long, or that time is over.
    package mutating func writeArray(to writer: inout JSONWriter) throws(StorageError) {
        writer.beginArray()
        var values = values
        try query.forEachValue { _, value throws(StorageError) in
            try meet(value, at: writer.count)
            values.write(value, to: &writer)
        }
        self.values = values
        writer.endArray()
    }

    /// Writes the line of names before CSV.
    package func begin(_ form: Form, in buffer: OutputBuffer) {
        guard form == .csv else { return }
        for column in query.columns { line.add(column.name, to: buffer) }
        line.end(in: buffer)
    }

    /// Writes the present row as a line.
    ///
    /// - Throws: That the row is too long, or that time is over.
    package mutating func writeLine(_ form: Form, to buffer: OutputBuffer) throws(StorageError) {
        var values = values
        if form == .csv {
            line.begin()
            try query.forEachValue { _, value throws(StorageError) in
                try meet(value, at: buffer.count)
                try line.add(to: buffer, isNumber: value.isNumber) { cell throws(StorageError) in
                    if value.isNull { return false }
                    if case .string(let text) = value, text.validatedString != nil {
                        cell.append(text)
                    } else {
                        var writer = JSONWriter(cell)
                        values.write(value, to: &writer)
                        cell.removeQuotes()
                    }
                    return true
                }
            }
            line.end(in: buffer)
        } else {
            var writer = JSONWriter(buffer)
            writer.beginObject()
            try query.forEachValue { column, value throws(StorageError) in
                try meet(value, at: writer.count)
                writer.key(names[column])
                values.write(value, to: &writer)
            }
            writer.endObject()
            buffer.append(UInt8(ascii: "\n"))
        }
        self.values = values
    }

    /// Counts the work on a value, and checks that there is room for it.
    private func meet(_ value: Value, at count: Int) throws(StorageError) {
        try budget.spend(WorkBudget.units(forBytes: value.byteCount))
        try budget.requireRoom(for: count + value.byteCount)
    }
}

extension Value {
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .double: true
        default: false
        }
    }
}

/// Sends the rows of a statement of SQL piece by piece, while they are found.
///
/// `@unchecked Sendable`: producers of chunks are never called twice at the same time.
package final class SQLStream: ChunkProducer, @unchecked Sendable {
    private let query: SQLQuery
    private let form: SQLRows.Form
    private let budget: WorkBudget
    private let pace: StreamPace
    private var rows: SQLRows
    private var hasBegun = false

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - query: The statement, before its first row.
    ///   - budget: The limit of work and time of the tables.
    ///   - secondsPerChunk: The time limit of one chunk.
    package init(
        _ query: SQLQuery, _ form: SQLRows.Form, _ representation: Representation, budget: WorkBudget, secondsPerChunk: Int
    ) {
        self.query = query
        self.form = form
        self.budget = budget
        rows = SQLRows(query, representation, budget: budget)
        pace = StreamPace(budget, secondsPerChunk)
    }

    package func produce(into buffer: OutputBuffer) throws -> Bool {
        pace.beginChunk()
        if !hasBegun {
            hasBegun = true
            rows.begin(form, in: buffer)
        }
        while buffer.count < Streaming.chunkBytes {
            guard try query.next() else { return true }
            budget.beginPart(at: buffer.count)
            try rows.writeLine(form, to: buffer)
        }
        return false
    }
}
