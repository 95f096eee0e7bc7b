// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
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
    /// The buffer to send, with all that is ready; another one for each chunk.
    var script = OutputBuffer()
    /// The work that may be done, and the bytes that an object may have.
    private let budget: WorkBudget
    /// The number of bytes of the complete rows of the present object.
    private var objectBytes = 0
    /// The start of the row that is being written, in its buffer.
    private var rowStart = 0
    /// Texts with characters that PostgreSQL cannot store, which were replaced.
    private var replaced = 0
    /// The numbers of bytes of rows that are collected for one table, and for all.
    private static let (blockBytes, allBytes) = (256 << 10, 8 << 20)

    /// The most columns that a table of PostgreSQL can have.
    static let columnLimit = 1600

    /// Begins a script.
    ///
    /// - Parameters:
    ///   - schema: The tables.
    ///   - budget: The work that may be done, and the bytes that an object may have.
    init(_ schema: RelationalSchema, _ budget: WorkBudget) {
        self.schema = schema
        self.budget = budget
        rows = schema.tables.map { _ in OutputBuffer() }
    }

    /// Begins an object, whose rows together have at most as many bytes as a document.
    func beginObject() {
        objectBytes = 0
        budget.beginPart(at: 0)
    }

    /// Writes the text before the rows.
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

    /// Writes the last rows, and the text after them.
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

    /// Returns the name of the column that has the exact text of dates with more digits, or years, than `timestamptz` has.
    private func exactName(of column: RelationalTable.Column, in table: RelationalTable) -> String {
        var names = RelationalNames()
        for other in table.columns { _ = names.take(other.name) }
        for other in table.columns where other.kind == .date {
            let name = names.take(other.name + "_exact")
            if other.name == column.name { return name }
        }
        return column.name + "_exact"
    }

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

    /// Returns a name in the form for statements.
    private static func quoted(_ name: String) -> String { SQLiteDatabase.quoted(name) }

    /// Writes a line of the script.
    private func line(_ text: String) {
        script.append(text)
        script.append(UInt8(ascii: "\n"))
    }

    // MARK: - Rows

    func add(_ cells: [RelationalCell], to table: Int) throws {
        // A long row is not collected but written at once, so that it is in memory once.
        let isLong = cells.reduce(0) { $0 + $1.byteCount } >= PostgreSQLSink.blockBytes
        if isLong {
            flush(table)
            beginBlock(table)
        }
        let buffer = isLong ? script : rows[table]
        rowStart = buffer.count
        for (index, cell) in cells.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: "\t")) }
            try write(cell, schema.tables[table].columns[index].kind, to: buffer)
        }
        buffer.append(UInt8(ascii: "\n"))
        try countPiece(buffer)
        objectBytes += buffer.count - rowStart
        guard !isLong else { return line("\\.") }
        waiting += buffer.count - rowStart
        if buffer.count >= PostgreSQLSink.blockBytes { flush(table) }
        if waiting >= PostgreSQLSink.allBytes { for index in rows.indices { flush(index) } }
    }

    /// Writes the rows of a table that were collected.
    private func flush(_ table: Int) {
        guard !rows[table].isEmpty else { return }
        beginBlock(table)
        script.append(rows[table])
        line("\\.")
        waiting -= rows[table].count
        rows[table].removeAll()
    }

    /// Writes the line that rows of a table follow.
    private func beginBlock(_ table: Int) {
        line("COPY \(PostgreSQLSink.quoted(schema.tables[table].name)) FROM stdin;")
    }

    /// Counts the work on a piece of a row, and checks that the row may be as long as it is now.
    private func countPiece(_ buffer: OutputBuffer) throws(StorageError) {
        try budget.spend(WorkBudget.units(forBytes: min(buffer.count - rowStart, PostgreSQLSink.pieceBytes)))
        try budget.requireRoom(for: objectBytes + buffer.count - rowStart)
    }

    /// Writes the value of a column, and for dates that of the column after it.
    private func write(_ cell: RelationalCell, _ kind: RelationalTable.Kind, to buffer: OutputBuffer) throws(StorageError) {
        switch cell {
        case .number(let number): buffer.append(decimal: number)
        case .text(let text): try escape(Array(text.utf8), to: buffer)
        case .json(let bytes): try escape(bytes, to: buffer)
        case .value(.timestamp(let date)) where kind == .date: try write(date, to: buffer)
        case .value(let value):
            try write(value, to: buffer)
            if kind == .date { buffer.append("\t\\N" as StaticString) }
        }
    }

    private func write(_ value: Value, to buffer: OutputBuffer) throws(StorageError) {
        switch value {
        case .null, .list, .dictionary, .link: buffer.append("\\N" as StaticString)
        case .int(let number): buffer.append(decimal: number)
        case .bool(let flag): buffer.append(UInt8(ascii: flag ? "t" : "f"))
        case .float(let number): if !buffer.append(shortest: number) { special(Double(number), buffer) }
        case .double(let number): if !buffer.append(shortest: number) { special(number, buffer) }
        case .string(let text): try escape(text, to: buffer)
        case .binary(let bytes):
            buffer.append("\\\\x" as StaticString)
            for start in stride(from: 0, to: bytes.count, by: PostgreSQLSink.pieceBytes) {
                buffer.append(FileDigest.hex(bytes.slice(start, start + PostgreSQLSink.pieceBytes).array))
                try countPiece(buffer)
            }
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

    /// Writes a date, and next to it the exact text if the type has not enough digits or years.
    private func write(_ date: Timestamp, to buffer: OutputBuffer) throws(StorageError) {
        guard let text = date.rfc3339 else {
            buffer.append((date.seconds < 0 ? "-infinity\t" : "infinity\t") as StaticString)
            return try escape(Array(date.text.utf8), to: buffer)
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

    /// The number of bytes of a text that are escaped, and of bytes that are written, between two checks of the budget.
    private static let pieceBytes = 64 << 10

    /// Writes a text with the escapes of `COPY`, piece by piece. A text that PostgreSQL cannot store gets U+FFFD for each refused
    /// character.
    private func escape(_ text: ByteView, to buffer: OutputBuffer) throws(StorageError) {
        var (position, isReplaced) = (0, false)
        while position < text.count {
            let piece = text.piece(from: position, byteCount: PostgreSQLSink.pieceBytes)
            if !PostgreSQLSink.escape(piece: piece, to: buffer) { isReplaced = true }
            position += piece.count
            try countPiece(buffer)
        }
        if isReplaced { replaced += 1 }
    }

    /// Writes a text as the other function does.
    private func escape(_ bytes: [UInt8], to buffer: OutputBuffer) throws(StorageError) {
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try escape(view, to: buffer) }
    }

    /// Writes a piece of a text; returns whether PostgreSQL can store it as it is.
    private static func escape(piece: ByteView, to buffer: OutputBuffer) -> Bool {
        let isText = piece.validatedString != nil
        let bytes = isText ? piece.array : Array(piece.string.utf8)
        var (start, hasZero) = (0, false)
        for (index, byte) in bytes.enumerated() {
            let escaped: StaticString
            switch byte {
            case UInt8(ascii: "\\"): escaped = "\\\\"
            case UInt8(ascii: "\n"): escaped = "\\n"
            case UInt8(ascii: "\r"): escaped = "\\r"
            case UInt8(ascii: "\t"): escaped = "\\t"
            case 0:
                escaped = "\u{fffd}"
                hasZero = true
            default: continue
            }
            buffer.append(bytes[start..<index])
            buffer.append(escaped)
            start = index + 1
        }
        buffer.append(bytes[start...])
        return isText && !hasZero
    }
}
