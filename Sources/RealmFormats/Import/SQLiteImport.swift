// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
package import RealmStorage

/// Turns tables of an untrusted database of SQLite into lines of objects, which are then
/// imported like any other lines. The number of a line is that of the row.
package struct SQLiteImport {
    /// The version whose classes give the columns their types.
    let snapshot: Snapshot
    /// Which tables are read, and under which names.
    let options: ImportOptions
    /// The class of the only table that is named without one; nil for none.
    let className: String?
    /// The largest number of bytes of one line, or of one value.
    let recordLimit: Int
    /// The largest number of bytes of all lines together.
    let byteLimit: Int
    /// Called at intervals; false cancels the work.
    let continues: () -> Bool

    package init(
        snapshot: Snapshot, options: ImportOptions, className: String?, recordLimit: Int, byteLimit: Int,
        continues: @escaping () -> Bool
    ) {
        self.snapshot = snapshot
        self.options = options
        self.className = className
        self.recordLimit = recordLimit
        self.byteLimit = byteLimit
        self.continues = continues
    }

    /// A table that is read as a class.
    struct Source {
        /// The name of the table.
        let name: String
        /// The class of its rows.
        let table: Table
    }

    /// A table, view or virtual table of the database.
    struct Entry {
        let name: String
        /// Whether it is a table with a root page. Nothing else is touched.
        let isPlain: Bool
    }

    /// Writes the lines of all tables.
    ///
    /// - Parameters:
    ///   - file: The database.
    ///   - target: An empty file for the lines.
    /// - Returns: The names of the tables that are not read, without those that the request does not choose.
    /// - Throws: `invalid_body` for a file that is damaged or no database, `invalid_parameter` for a table
    ///   that it does not have, `class_not_found`, `body_too_large`.
    package func write(_ file: BodyFile, to target: BodyFile) throws(Problem) -> [String] {
        guard file.byteCount > 0 else { throw Problem(.invalidBody, "the body is empty; expected an SQLite database") }
        do {
            return try file.withDescriptor { descriptor in
                try SQLiteDatabase.bounded(to: memoryLimit, continues: continues) {
                    let database = try SQLiteDatabase(
                        reading: descriptor, valueLimit: recordLimit, continues: continues)
                    var rowCount = 0
                    var entries = try entries(of: database)
                    let names = try names(among: entries, of: database)
                    if names != nil { entries.removeAll { $0.name == NameMap.table } }
                    let byLetters = Dictionary(
                        texts: entries.map { ($0.name.lowercasedASCII, $0) }, uniquingKeysWith: { first, _ in first })
                    let sources = try sources(entries, names)
                    let parts = try SQLiteParts(database, of: self, names, sources, among: byLetters) { name in
                        try columns(of: name, in: database, leavesOutGenerated: options.isLenient)
                    }
                    for source in sources where source.table.kind != .embedded {
                        try write(
                            source, names?.objects[source.name], of: database, with: parts, to: target, counting: &rowCount)
                    }
                    try requireTables(for: sources, names, among: byLetters)
                    try requireOwners(parts)
                    return try parts.tablesNotRead(of: entries)
                }
            }
        } catch let problem as Problem {
            throw problem
        } catch let failure as SQLiteFailure {
            // SQLite reports an interruption as damage or a lack of memory.
            throw problem(continues() ? failure : .interrupted)
        } catch let error as StorageError {
            throw Problem(spooling: error)
        } catch {
            throw Problem(.internalError, "the database could not be read")
        }
    }

    /// The bytes that SQLite may allocate: for a few copies of the longest value, for the schema and for pages.
    private var memoryLimit: Int { 48 << 20 + 3 * recordLimit }

    /// Returns the problem of a database that cannot be read.
    private func problem(_ failure: SQLiteFailure) -> Problem {
        switch failure {
        case .interrupted: return Problem(.deadlineExceeded, "reading the database takes too long")
        case .tooLong:
            return .overLimit(
                .bodyTooLarge, "a value of the database is longer than \(recordLimit) bytes",
                limit: recordLimit)
        case .noMemory:
            return .overLimit(
                .bodyTooLarge, "reading the database takes more than \(memoryLimit) bytes of memory", limit: memoryLimit)
        case .refused, .unauthorized:
            return Problem(.invalidBody, "the database has a table that cannot be read without running what it says")
        case .full, .malformed, .constraint, .other:
            return Problem(.invalidBody, "the body is not an SQLite database, or is damaged")
        }
    }

    /// Reads what an export says of its tables; nil for other databases, and when the request takes its table for a class.
    ///
    /// - Throws: `invalid_body` for a view or a table with generated columns in its place, or a map that contradicts itself.
    private func names(among entries: [Entry], of database: SQLiteDatabase) throws -> SQLiteNames? {
        guard let entry = entries.first(where: { $0.name.lowercasedASCII == NameMap.table }),
            options.tables?[entry.name] == nil
        else { return nil }
        guard entry.isPlain else { throw Problem(.invalidBody, SQLiteImport.noPlainTable(entry.name)) }
        let found = try columns(of: entry.name, in: database, leavesOutGenerated: false) ?? []
        guard entry.name == NameMap.table, Set(texts: found) == Set(texts: NameMap.columns) else {
            // It may be the table of a class with this name.
            guard !options.isLenient, snapshot.classTable(named: entry.name) == nil else { return nil }
            throw Problem(
                .invalidBody,
                "the table '\(entry.name)' is called '\(NameMap.table)' in an export and has the columns "
                    + "\(SQLiteImport.listed(NameMap.columns)), but this one has \(SQLiteImport.listed(found))"
                    + SQLiteImport.leaving)
        }
        let list = NameMap.columns.map(SQLiteDatabase.quoted).joined(separator: ", ")
        return try SQLiteNames(
            try database.prepare("SELECT \(list) FROM \(SQLiteDatabase.quoted(entry.name)) NOT INDEXED"))
    }

    /// Returns the class of a table that the request does not name; nil for none.
    private func table(of name: String, _ names: SQLiteNames?) throws(Problem) -> Table? {
        guard let names, names.has(name) else { return snapshot.classTable(named: name) }
        guard let className = names.objects[name]?.className else { return nil }
        if let table = snapshot.classTable(named: className) { return table }
        guard options.isLenient else {
            throw Problem(
                .classNotFound,
                "there is no class '\(className.truncated)' for the table '\(name.truncated)'; name the tables to read with "
                    + "tables=TABLE:CLASS" + SQLiteImport.leaving)
        }
        return nil
    }

    /// Returns the tables that are read as classes, and those that the request names for embedded classes.
    private func sources(_ entries: [Entry], _ names: SQLiteNames?) throws -> [Source] {
        let present = entries.filter(\.isPlain).map(\.name)
        guard let wanted = options.tables else {
            if let names, !options.isLenient {
                let plain = Set(texts: present)
                for name in names.tables where !plain.contains(ByteText(name)) {
                    throw SQLiteImport.notThere(name, entries.first { $0.name == name })
                }
            }
            let found = try present.compactMap { name in
                try table(of: name, names).flatMap { $0.kind == .embedded ? nil : Source(name: name, table: $0) }
            }
            // The export of a realm without classes has the map alone.
            guard !found.isEmpty || names?.tables.isEmpty == true && present.isEmpty else {
                throw Problem.invalidParameter(
                    "tables",
                    "no table matches a class name; "
                        + (present.isEmpty
                            ? "the database has none"
                            : "name them with tables=TABLE:CLASS,… out of \(SQLiteImport.listed(present))"))
            }
            return found
        }
        for name in wanted.keys.sorted().texts where !present.contains(name) {
            throw SQLiteImport.noTable(name, present, entries)
        }
        let found: [Source] = try present.compactMap { name in
            guard let other = wanted[name] else { return nil }
            let target = wanted.count == 1 && other == name ? className ?? other : other
            guard let table = snapshot.classTable(named: target) else {
                let hint = Suggestion.hint(for: target, in: snapshot.classes.lazy.compactMap(\.className))
                throw Problem(.classNotFound, "there is no class '\(target.truncated)' for the table '\(name.truncated)'\(hint)")
            }
            return Source(name: name, table: table)
        }
        guard found.contains(where: { $0.table.kind != .embedded }) else {
            throw Problem.invalidParameter(
                "tables", "embedded objects come in with the objects that have them; name their tables, too")
        }
        return found
    }

    /// Throws `invalid_body` when a class has no table, but something else has its name, or nearly so.
    private func requireTables(for found: [Source], _ names: SQLiteNames?, among entries: [ByteText: Entry]) throws(Problem) {
        guard !options.isLenient, options.tables == nil else { return }
        let (read, taken) = (Set(found.map(\.table.key)), Set(texts: found.map(\.name)))
        for table in snapshot.classes where table.kind != .embedded && !read.contains(table.key) {
            let name = table.className ?? table.name
            guard let entry = entries[ByteText(name.lowercasedASCII)], !taken.contains(ByteText(entry.name)),
                names?.has(entry.name) != true
            else { continue }
            guard entry.isPlain else { throw Problem(.invalidBody, SQLiteImport.noPlainTable(entry.name) + SQLiteImport.leaving) }
            throw Problem(
                .invalidBody,
                "the table '\(entry.name.truncated)' has the letters of the class '\(name.truncated)' in another case; name it with "
                    + "tables=TABLE:CLASS" + SQLiteImport.leaving)
        }
    }

    /// The end of a message about what takes the place of a table.
    static let leaving = "; 'Prefer: handling=lenient' leaves it out"

    /// Throws `invalid_body` for rows of collections and embedded objects that belong to no row which was read.
    private func requireOwners(_ parts: SQLiteParts) throws {
        guard !options.isLenient, let table = try parts.tableWithRowsLeft() else { return }
        throw Problem(
            .invalidBody,
            "the table '\(table.truncated)' has rows that belong to no object; 'Prefer: handling=lenient' leaves them out")
    }

    /// Returns the tables and views in their order, without those of SQLite itself. Views and virtual tables have no root page.
    private func entries(of database: SQLiteDatabase) throws -> [Entry] {
        let list = try database.prepare(
            "SELECT name, type, rootpage FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid")
        var entries: [Entry] = []
        while try list.next() {
            guard case .text(let bytes) = list.value(0), let name = String(validating: bytes, as: UTF8.self),
                !name.lowercasedASCII.hasPrefix("sqlite_")
            else { continue }
            var isPlain = false
            if case .int(let page) = list.value(2) { isPlain = page > 0 && list.value(1) == .text(Array("table".utf8)) }
            entries.append(Entry(name: name, isPlain: isPlain))
        }
        return entries
    }

    /// Makes the problem of a table that the map of an export names.
    static func notThere(_ name: String, _ entry: Entry?) -> Problem {
        if let entry, entry.name == name { return Problem(.invalidBody, noPlainTable(name) + leaving) }
        return SQLiteNames.problem("names the table '\(name.truncated)', which is not there" + leaving)
    }

    static func noPlainTable(_ name: String) -> String {
        "'\(name.truncated)' is a view or a virtual table, which are not read; make a table of it: "
            + "CREATE TABLE \"copy\" AS SELECT * FROM \(SQLiteDatabase.quoted(name.truncated))"
    }

    /// Makes the problem of a table that is not there, or no plain one.
    private static func noTable(_ name: String, _ present: [String], _ entries: [Entry]) -> Problem {
        let isOther = entries.contains { !$0.isPlain && $0.name == name }
        let detail =
            isOther
            ? noPlainTable(name)
            : "the database has no table '\(name.truncated)', but \(listed(present))" + Suggestion.hint(for: name, in: present)
        return Problem.invalidParameter("tables", detail)
    }

    /// Lists a few names for a message.
    static func listed(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
    }

    // MARK: - Rows

    /// Writes the lines of one table.
    ///
    /// - Parameters:
    ///   - source: The table.
    ///   - objects: Its columns by the map of an export; nil for other tables.
    ///   - target: The file for the lines.
    ///   - rowCount: The number of rows of all tables so far.
    private func write(
        _ source: Source, _ objects: SQLiteNames.Objects?, of database: SQLiteDatabase, with parts: SQLiteParts,
        to target: BodyFile, counting rowCount: inout Int
    ) throws {
        guard let names = try columns(of: source.name, in: database, leavesOutGenerated: options.isLenient), !names.isEmpty else {
            throw SQLiteFailure.refused
        }
        let list = names.map(SQLiteDatabase.quoted).joined(separator: ", ")
        // The rows are read in the order of the table, without indexes.
        let rows = try database.prepare("SELECT \(list) FROM \(SQLiteDatabase.quoted(source.name)) NOT INDEXED")
        for name in options.columns.keys.sorted().texts where options.tables?.count ?? 1 == 1 && !names.contains(name) {
            throw Problem.invalidParameter("columns", "the table has no column '\(name)', but \(SQLiteImport.listed(names))")
        }
        let cells = try cells(names, source, objects)
        // Without the key the rows of collections belong to no object.
        let key = keyIndex(names, cells, of: source.table, objects)
        let given = Set(texts: cells.filter { !$0.isKey }.map(\.name))
        let collections = key == nil ? [] : try parts.collections(of: source, without: given)
        let buffer = OutputBuffer(capacity: 256 << 10)
        while true {
            let start = buffer.count
            do {
                guard try rows.next() else { break }
                try write(rows, cells, of: source.table, with: parts, collections, key, to: buffer)
            } catch let error as SQLiteCell.Unfit {
                throw Problem(error.code, "table '\(source.name.truncated)': \(error.detail)")
                    .with("pointer", InputPath([.name(error.name)]).description).with("line", .integer(Int64(rowCount + 1)))
            } catch let failure as SQLiteFailure where continues() {
                throw problem(failure).with("line", .integer(Int64(rowCount + 1)))
            }
            guard buffer.count - start <= recordLimit else {
                throw problem(.tooLong).with("line", .integer(Int64(rowCount + 1)))
            }
            rowCount += 1
            if buffer.count >= 64 << 10 { try flush(buffer, to: target) }
        }
        try flush(buffer, to: target)
    }

    /// Returns the columns of a table that are stored; nil when there is no such table.
    ///
    /// - Throws: `invalid_body` for generated columns, which would have to be computed, unless they may be left out.
    private func columns(of table: String, in database: SQLiteDatabase, leavesOutGenerated: Bool) throws -> [String]? {
        let list = try database.prepare("PRAGMA table_xinfo(\(SQLiteDatabase.quoted(table)))")
        var names: [String] = []
        var isThere = false
        while try list.next() {
            isThere = true
            guard case .text(let bytes) = list.value(1), let name = String(validating: bytes, as: UTF8.self) else {
                throw Problem(.invalidBody, "a column of the table '\(table.truncated)' has a name that is not UTF-8")
            }
            guard list.value(6) != .int(0) else {
                names.append(name)
                continue
            }
            guard leavesOutGenerated else {
                throw Problem(
                    .invalidBody,
                    "'\(name.truncated)' of the table '\(table.truncated)' is a generated column, and nothing of a file is computed"
                        + (table == NameMap.table ? "" : "; 'Prefer: handling=lenient' leaves such columns out"))
            }
        }
        return isThere ? names : nil
    }

    /// Returns how the columns of a table become members. A name of the request overrides one of the map.
    private func cells(_ columns: [String], _ source: Source, _ objects: SQLiteNames.Objects?) throws(Problem) -> [SQLiteCell] {
        let properties = Dictionary(texts: (objects?.properties ?? []).map { ($0.column, $0.property) }, uniquingKeysWith: { $1 })
        if let objects, !options.isLenient {
            let present = Set(texts: columns)
            for name in [objects.key] + objects.properties.map(\.column) where !present.contains(ByteText(name)) {
                throw SQLiteNames.problem(
                    "names the column '\(name.truncated)' of the table '\(source.name.truncated)', which is not there"
                        + SQLiteImport.leaving)
            }
        }
        var seen: [ByteText: String] = [:]
        return try columns.map { column throws(Problem) in
            let given = options.columns[column]
            let name = given ?? properties[column] ?? column
            let property = source.table.column(named: name)
            // A column of keys has the name `_key`, unless the map says which one it is.
            let isNamed = property == nil && name == "_key"
            let isKey =
                objects.map { $0.key == column && properties[column] == nil && (given == nil || isNamed) } ?? isNamed
            // The map has one such column, in addition to a property of its name.
            if isKey, objects != nil { return SQLiteCell(name: name, column: nil, snapshot: snapshot, isKey: true) }
            if let other = seen.updateValue(column, forKey: name) {
                throw Problem.invalidParameter(
                    "columns", "the columns '\(other.truncated)' and '\(column.truncated)' both mean '\(name.truncated)'")
            }
            return SQLiteCell(name: name, column: property, snapshot: snapshot, isKey: isKey)
        }
    }

    /// Returns the position of the column with the keys of the objects; nil for none.
    private func keyIndex(
        _ columns: [String], _ cells: [SQLiteCell], of table: Table, _ objects: SQLiteNames.Objects?
    ) -> Int? {
        if let objects { return columns.firstIndex { $0 == objects.key } }
        guard case .primary(let key) = RelationalSchema.key(of: table) else { return cells.firstIndex(where: \.isKey) }
        return cells.firstIndex { $0.name == key.name }
    }

    /// Appends the lines so far to the file.
    private func flush(_ buffer: OutputBuffer, to target: BodyFile) throws {
        guard target.byteCount + buffer.count <= byteLimit else {
            throw Problem.overLimit(
                .bodyTooLarge, "the tables have more than \(byteLimit) bytes as lines", limit: byteLimit)
        }
        guard continues() else { throw SQLiteFailure.interrupted }
        try target.append(buffer.array)
        buffer.removeAll()
    }

    /// Throws `.tooLong` for a text that is longer than permitted as JSON, where a control character takes six bytes.
    private func requireFitting(_ value: SQLiteStatement.Found) throws(SQLiteFailure) {
        guard case .text(let bytes) = value, bytes.count > recordLimit / 6 else { return }
        let extra = bytes.reduce(0) { $0 + ($1 < 0x20 ? 5 : $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 1 : 0) }
        guard bytes.count + extra <= recordLimit else { throw .tooLong }
    }

    /// Writes one row as a line.
    private func write(
        _ rows: SQLiteStatement, _ cells: [SQLiteCell], of table: Table, with parts: SQLiteParts,
        _ collections: [SQLiteParts.Collection], _ key: Int?, to buffer: OutputBuffer
    ) throws {
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
            let value = rows.value(index)
            try requireFitting(value)
            let single = cell.column.flatMap { $0.collection == nil ? $0 : nil }
            if try parts.isLeftOut(value, single) { continue }
            cell.writeName(to: &writer)
            if try parts.writeEmbedded(value, single, named: cell.name, to: &writer) { continue }
            try cell.writeValue(value, to: &writer)
        }
        if let key { try parts.write(collections, of: rows.value(key), to: &writer) }
        writer.endObject()
        buffer.append(UInt8(ascii: "\n"))
    }
}
