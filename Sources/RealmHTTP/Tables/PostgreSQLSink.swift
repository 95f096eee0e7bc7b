// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes the rows of an export as a script for PostgreSQL: tables, `COPY` blocks with rows, and then
/// keys, constraints and indexes.
///
/// Rows of different tables come mixed, so those of each table are collected and written a block at a
/// time. The first lines make a transaction, so a script that was cut off leaves nothing.
final class PostgreSQLSink: RelationalSink {
    /// The tables.
    private let schema: RelationalSchema
    /// The rows of each table that are not written yet.
    private let rows: [OutputBuffer]
    /// The number of bytes in all of `rows`.
    private var waiting = 0
    /// What is ready to be sent.
    private var script: OutputBuffer
    /// Texts with characters that PostgreSQL cannot store, which were replaced.
    private var replaced = 0
    /// How many bytes of rows are collected for one table, and for all.
    private static let (blockBytes, allBytes) = (256 << 10, 8 << 20)

    /// The most columns that a table of PostgreSQL can have.
    static let columnLimit = 1600

    /// Begins a script.
    ///
    /// - Parameter schema: The tables.
    init(_ schema: RelationalSchema) {
        self.schema = schema
        rows = schema.tables.map { _ in OutputBuffer() }
        script = OutputBuffer(capacity: 64 << 10)
    }

    /// Moves what is ready to a buffer.
    func take(into buffer: OutputBuffer) {
        buffer.append(script)
        script.removeAll()
    }

    /// Writes what precedes the rows.
    ///
    /// - Parameter version: The token of the version, for a comment.
    func begin(version: String) {
        line("-- A script for psql of PostgreSQL 12 or newer: psql -v ON_ERROR_STOP=1 -f FILE DATABASE")
        line("-- Version \(version)")
        line("SET client_encoding = 'UTF8';")
        line("SET standard_conforming_strings = on;")
        line("BEGIN;")
        for table in schema.tables {
            let columns = table.columns.flatMap { column -> [String] in
                let own =
                    "  \(PostgreSQLSink.quoted(column.name)) \(PostgreSQLSink.type(of: column.kind))"
                    + (column.isNullable ? "" : " NOT NULL")
                guard column.kind == .date else { return [own] }
                return [own, "  \(PostgreSQLSink.quoted(exactName(of: column, in: table))) text"]
            }
            line("CREATE TABLE \(PostgreSQLSink.quoted(table.name)) (\n\(columns.joined(separator: ",\n"))\n);")
        }
    }

    /// Writes the last rows, and what follows them.
    func finish() {
        for index in rows.indices { flush(index) }
        for table in schema.tables {
            let key = table.key.map { PostgreSQLSink.quoted(table.columns[$0].name) }.joined(separator: ", ")
            line("ALTER TABLE \(PostgreSQLSink.quoted(table.name)) ADD PRIMARY KEY (\(key));")
        }
        for table in schema.tables {
            for column in table.columns { constraints(of: column, in: table) }
        }
        if replaced > 0 {
            line(
                "-- \(replaced) texts held the character U+0000 or bytes that are not UTF-8, which PostgreSQL cannot store: U+FFFD stands there."
            )
        }
        line("COMMIT;")
    }

    /// Writes the constraints and the index of a column.
    private func constraints(of column: RelationalTable.Column, in table: RelationalTable) {
        let (tableName, name) = (PostgreSQLSink.quoted(table.name), PostgreSQLSink.quoted(column.name))
        if column.isUnique { line("ALTER TABLE \(tableName) ADD UNIQUE (\(name));") }
        if let target = column.target.map({ schema.tables[$0] }) {
            let key = PostgreSQLSink.quoted(target.columns[0].name)
            line("ALTER TABLE \(tableName) ADD FOREIGN KEY (\(name)) REFERENCES \(PostgreSQLSink.quoted(target.name)) (\(key));")
        }
        // JSON has no order.
        if column.isIndexed, !column.isUnique, column.kind != .json {
            // A B-tree takes texts of up to a third of a page only.
            line("CREATE INDEX ON \(tableName)\(column.kind == .text ? " USING hash" : "") (\(name));")
        }
    }

    /// Returns the name of the column that has the exact text of dates with more digits, or years, than
    /// `timestamptz` has.
    private func exactName(of column: RelationalTable.Column, in table: RelationalTable) -> String {
        var names = RelationalNames()
        for other in table.columns { _ = names.take(other.name) }
        for other in table.columns where other.kind == .date {
            let name = names.take(other.name + "_exact")
            if other.name == column.name { return name }
        }
        return column.name + "_exact"
    }

    /// Returns the type of a kind.
    private static func type(of kind: RelationalTable.Kind) -> String {
        switch kind {
        case .int: return "bigint"
        case .bool: return "boolean"
        case .float: return "real"
        case .double: return "double precision"
        case .text, .objectID: return "text"
        case .bytes: return "bytea"
        case .date: return "timestamptz"
        case .decimal: return "numeric"
        case .uuid: return "uuid"
        case .json: return "json"
        }
    }

    /// Returns a name as it stands in statements.
    private static func quoted(_ name: String) -> String { SQLiteDatabase.quoted(name) }

    /// Writes a line of the script.
    private func line(_ text: String) {
        script.append(text)
        script.append(UInt8(ascii: "\n"))
    }

    // MARK: - Rows

    func add(_ cells: [RelationalCell], to table: Int) throws {
        let buffer = rows[table]
        let start = buffer.count
        for (index, cell) in cells.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: "\t")) }
            write(cell, schema.tables[table].columns[index].kind, to: buffer)
        }
        buffer.append(UInt8(ascii: "\n"))
        waiting += buffer.count - start
        if buffer.count >= PostgreSQLSink.blockBytes { flush(table) }
        if waiting >= PostgreSQLSink.allBytes { for index in rows.indices { flush(index) } }
    }

    /// Writes the rows of a table that were collected.
    private func flush(_ table: Int) {
        guard !rows[table].isEmpty else { return }
        line("COPY \(PostgreSQLSink.quoted(schema.tables[table].name)) FROM stdin;")
        script.append(rows[table])
        line("\\.")
        waiting -= rows[table].count
        rows[table].removeAll()
    }

    /// Writes what stands in a column, and for dates in the column after it.
    private func write(_ cell: RelationalCell, _ kind: RelationalTable.Kind, to buffer: OutputBuffer) {
        switch cell {
        case .number(let number): buffer.append(decimal: number)
        case .text(let text): escape(Array(text.utf8), to: buffer)
        case .json(let bytes): escape(bytes, to: buffer)
        case .value(.timestamp(let date)) where kind == .date: write(date, to: buffer)
        case .value(let value):
            write(value, to: buffer)
            if kind == .date { buffer.append("\t\\N" as StaticString) }
        }
    }

    /// Writes a value.
    private func write(_ value: Value, to buffer: OutputBuffer) {
        switch value {
        case .null, .list, .dictionary, .link: buffer.append("\\N" as StaticString)
        case .int(let number): buffer.append(decimal: number)
        case .bool(let flag): buffer.append(UInt8(ascii: flag ? "t" : "f"))
        case .float(let number): if !buffer.append(shortest: number) { special(Double(number), buffer) }
        case .double(let number): if !buffer.append(shortest: number) { special(number, buffer) }
        case .string(let text): escape(text.array, to: buffer)
        case .binary(let bytes):
            buffer.append("\\\\x" as StaticString)
            buffer.append(FileDigest.hex(bytes.array))
        case .timestamp(let date): buffer.append(date.text)
        case .decimal(let number): decimal(number.description, buffer)
        case .objectID(let id): buffer.append(id.description)
        case .uuid(let id): buffer.append(id.description)
        }
    }

    /// Writes a number that has no digits.
    private func special(_ number: Double, _ buffer: OutputBuffer) {
        buffer.append((number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity") as StaticString)
    }

    /// Writes a decimal number. PostgreSQL knows neither signs of NaN nor short names of infinities.
    private func decimal(_ text: String, _ buffer: OutputBuffer) {
        let lower = text.lowercasedASCII
        if lower.contains("nan") { return buffer.append("NaN" as StaticString) }
        if lower.contains("inf") {
            return buffer.append((lower.hasPrefix("-") ? "-Infinity" : "Infinity") as StaticString)
        }
        buffer.append(text)
    }

    /// Writes a date, and beside it the exact text if the type has not enough digits or years.
    private func write(_ date: Timestamp, to buffer: OutputBuffer) {
        guard let text = date.rfc3339 else {
            buffer.append((date.seconds < 0 ? "-infinity\t" : "infinity\t") as StaticString)
            return escape(Array(date.text.utf8), to: buffer)
        }
        // More than six digits would be rounded, perhaps to another second.
        let dot = text.firstIndex(of: ".")
        let digits = dot.map { text[text.index(after: $0)...].dropLast() } ?? ""
        guard digits.count > 6, let dot else {
            buffer.append(text)
            return buffer.append("\t\\N" as StaticString)
        }
        buffer.append(String(text[...dot]) + digits.prefix(6) + "Z\t" + text)
    }

    /// Writes a text with the escapes of `COPY`. A text that PostgreSQL cannot store has U+FFFD in the
    /// place of what it refuses.
    private func escape(_ bytes: [UInt8], to buffer: OutputBuffer) {
        var bytes = bytes
        if bytes.contains(0) || String(validating: bytes, as: UTF8.self) == nil {
            replaced += 1
            bytes = Array(
                String(decoding: bytes, as: UTF8.self).unicodeScalars.map { $0.value == 0 ? "\u{fffd}" : $0 }.reduce(into: "") {
                    $0.unicodeScalars.append($1)
                }.utf8)
        }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): buffer.append("\\\\" as StaticString)
            case UInt8(ascii: "\n"): buffer.append("\\n" as StaticString)
            case UInt8(ascii: "\r"): buffer.append("\\r" as StaticString)
            case UInt8(ascii: "\t"): buffer.append("\\t" as StaticString)
            default: buffer.append(byte)
            }
        }
    }
}
