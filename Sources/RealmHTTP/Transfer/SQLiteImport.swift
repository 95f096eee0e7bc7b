// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Turns tables of a database of SQLite that comes from anybody into lines of objects, which are then
/// imported like any other lines. The number of a line is that of the row.
struct SQLiteImport {
    /// The version whose classes give the columns their types.
    let snapshot: Snapshot
    /// Which tables are read, and under which names.
    let options: ImportOptions
    /// The class of the only table that is named without one; nil for none.
    let className: String?
    /// The bounds on values and on all lines together.
    let limits: Limits
    /// Asked now and then whether the work goes on.
    let goesOn: () -> Bool

    /// A table that is read.
    private struct Source {
        /// The name of the table.
        let name: String
        /// The class of its rows.
        let table: Table
    }

    /// Writes the lines of all tables.
    ///
    /// - Parameters:
    ///   - file: The database.
    ///   - target: An empty file for the lines.
    /// - Throws: `invalid_body` for a file that is damaged or no database, `invalid_parameter` for a table
    ///   that it does not have, `class_not_found`, `body_too_large`.
    func write(_ file: BodyFile, to target: BodyFile) throws(Problem) {
        do {
            try file.withDescriptor { descriptor in
                let database = try SQLiteDatabase(
                    reading: descriptor, valueLimit: limits.importRecordBytes, goesOn: goesOn)
                for source in try sources(database) { try write(source, of: database, to: target) }
            }
        } catch let problem as Problem {
            throw problem
        } catch let failure as SQLiteFailure {
            throw problem(failure)
        } catch let error as StorageError {
            throw Problem(spooling: error)
        } catch {
            throw Problem(.internalError, "the database could not be read")
        }
    }

    /// Returns the problem of a database that cannot be read.
    private func problem(_ failure: SQLiteFailure) -> Problem {
        switch failure {
        case .interrupted: return Problem(.deadlineExceeded, "reading the database takes too long")
        case .tooLong:
            return .overLimit(
                .bodyTooLarge, "a value of the database is longer than \(limits.importRecordBytes) bytes",
                limit: limits.importRecordBytes)
        case .refused: return Problem(.invalidBody, "the database has a table that cannot be read without running what it says")
        case .full, .malformed, .other: return Problem(.invalidBody, "the body is no database of SQLite, or is damaged")
        }
    }

    /// Returns the tables that are read.
    private func sources(_ database: SQLiteDatabase) throws -> [Source] {
        // A table with a root page is a plain one: views and virtual tables have none, and are never touched.
        let list = try database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rowid")
        var present: [String] = []
        while try list.next() {
            guard case .text(let bytes) = list.value(0), let name = String(validating: bytes, as: UTF8.self),
                !name.lowercased().hasPrefix("sqlite_")
            else { continue }
            present.append(name)
        }
        guard let wanted = options.tables else {
            let found = present.compactMap { name in
                snapshot.classTable(named: name).flatMap { $0.kind == .embedded ? nil : Source(name: name, table: $0) }
            }
            guard !found.isEmpty else {
                throw Problem.invalidParameter(
                    "tables",
                    "no table is called like a class; name them with tables=TABLE:CLASS,… out of \(SQLiteImport.listed(present))")
            }
            return found
        }
        for name in wanted.keys.sorted() where !present.contains(name) {
            throw Problem.invalidParameter(
                "tables", "the database has no table '\(name)', but \(SQLiteImport.listed(present))")
        }
        return try present.compactMap { name in
            guard let other = wanted[name] else { return nil }
            let target = wanted.count == 1 && other == name ? className ?? other : other
            guard let table = snapshot.classTable(named: target) else {
                throw Problem(.classNotFound, "there is no class '\(target)' for the table '\(name)'")
            }
            return Source(name: name, table: table)
        }
    }

    /// Lists a few names for a message.
    private static func listed(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
    }

    // MARK: - Rows

    /// Writes the lines of one table.
    private func write(_ source: Source, of database: SQLiteDatabase, to target: BodyFile) throws {
        let rows = try database.prepare("SELECT * FROM \(SQLiteDatabase.quoted(source.name))")
        let names = (0..<rows.columnCount).map { rows.name(of: $0) }
        for name in options.columns.keys.sorted() where options.tables?.count ?? 1 == 1 && !names.contains(name) {
            throw Problem.invalidParameter("columns", "the table has no column '\(name)', but \(SQLiteImport.listed(names))")
        }
        let cells = names.map { options.columns[$0] ?? $0 }.map { name in
            SQLiteCell(name: name, column: source.table.column(named: name), snapshot: snapshot)
        }
        let buffer = OutputBuffer(capacity: 256 << 10)
        while try rows.next() {
            write(rows, cells, source.table, to: buffer)
            if buffer.count >= 64 << 10 { try flush(buffer, to: target) }
        }
        try flush(buffer, to: target)
    }

    /// Appends the lines so far to the file.
    private func flush(_ buffer: OutputBuffer, to target: BodyFile) throws {
        guard target.byteCount + buffer.count <= limits.importBytes else {
            throw Problem.overLimit(
                .bodyTooLarge, "the tables have more than \(limits.importBytes) bytes as lines", limit: limits.importBytes)
        }
        guard goesOn() else { throw SQLiteFailure.interrupted }
        try target.append(buffer.array)
        buffer.removeAll()
    }

    /// Writes one row as a line.
    private func write(_ rows: SQLiteStatement, _ cells: [SQLiteCell], _ table: Table, to buffer: OutputBuffer) {
        var writer = JSONWriter(buffer)
        writer.beginObject()
        writer.key("$meta")
        writer.beginObject()
        writer.member("class", text: table.className ?? table.name)
        for (index, cell) in cells.enumerated() where cell.isKey {
            if case .int(let number) = rows.value(index) { writer.member("key", text: "@k\(number)") }
        }
        writer.endObject()
        for (index, cell) in cells.enumerated() where !cell.isKey && !(options.isLenient && cell.column == nil) {
            cell.write(rows.value(index), to: &writer)
        }
        writer.endObject()
        buffer.append(UInt8(ascii: "\n"))
    }
}
