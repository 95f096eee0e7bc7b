// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads the tables of embedded objects and collections.
///
/// Those of an export are known by its `NameMap`. In other databases a table is read if it has the name and exactly the columns
/// that its class or the table of its owners asks for. Missing tables are left out, so `mode=upsert` keeps their values.
///
/// SQLite finds the rows of an owner by the collation and the affinity that the file declares, under which one row may belong to
/// several owners. Of the rows that it finds only those count whose owner is the same key.
final class SQLiteParts {
    /// An element of a collection: its key in a dictionary, and its value.
    private typealias Element = (key: SQLiteStatement.Found, value: SQLiteStatement.Found)

    /// A table of embedded objects or of a collection.
    private struct Part {
        let table: String
        /// The columns that it must have. The first one is the owner, or the number of an embedded object.
        let columns: [String]
        /// A description for messages.
        let what: String
        var isCollection = false
        /// Whether the map of an export says what it holds.
        let isMapped: Bool
        /// Whether only its name says what it holds.
        let isByName: Bool

        /// Whether a table with these columns is this one.
        func fits(_ found: [String]) -> Bool {
            Set(texts: columns) == Set(texts: found) && (isMapped || columns.count == found.count)
        }
    }

    /// A collection in a table of its own.
    struct Collection {
        let property: String
        /// The property; nil when the class has none of this name.
        fileprivate let column: Column?
        fileprivate let isDictionary: Bool
        /// The position of the table in `parts`.
        fileprivate let part: Int
    }

    /// The table of an embedded class.
    private struct Embedded {
        let part: Int
        /// The properties that are columns, in their order.
        let members: [(name: String, column: Column?)]
    }

    private let snapshot: Snapshot
    private let database: SQLiteDatabase
    private let options: ImportOptions
    /// The tables that are read as classes.
    private let sources: [SQLiteImport.Source]
    /// The longest line of an object.
    private let byteLimit: Int
    /// The tables and views of the database, by their names in lower case.
    private let entries: [ByteText: SQLiteImport.Entry]
    /// The columns of a table.
    private let columns: (String) throws -> [String]?

    private var parts: [Part] = []
    /// The collections by the tables of their owners.
    private var collections: [ByteText: [Collection]] = [:]
    private var embedded: [TableKey: Embedded] = [:]
    /// The positions of the parts that a table may be by its name.
    private var claims: [ByteText: [Int]] = [:]
    /// The tables of the map and those that are read as classes.
    private var taken: Set<ByteText> = []
    /// The statements that find the rows of a table for an owner, by its position; nil for a table that is not read.
    private var statements: [Int: SQLiteStatement?] = [:]
    /// The positions of the tables whose rows come in with the objects of classes.
    private var placed: Set<Int> = []
    /// The number of rows that were read of a table, by its position.
    private var readCounts: [Int: Int] = [:]
    /// The nesting depth of embedded objects at the moment.
    private var nesting = 0
    /// As many as `ObjectEncoder` permits.
    private static let maximumNesting = 128

    /// Prepares to read.
    ///
    /// - Parameters:
    ///   - import: The version whose classes give the columns their types, and the options.
    ///   - names: The map of an export; nil for other databases.
    ///   - sources: The tables that are read as classes, and those named for embedded classes.
    ///   - entries: The tables and views of the database, by their names in lower case.
    ///   - columns: Returns the columns of a table; nil when there is none of this name.
    /// - Throws: `invalid_parameter` for two tables of one embedded class.
    init(
        _ database: SQLiteDatabase, of import: SQLiteImport, _ names: SQLiteNames?, _ sources: [SQLiteImport.Source],
        among entries: [ByteText: SQLiteImport.Entry], columns: @escaping (String) throws -> [String]?
    ) throws(Problem) {
        self.database = database
        snapshot = `import`.snapshot
        options = `import`.options
        byteLimit = `import`.recordLimit
        self.sources = sources
        self.entries = entries
        self.columns = columns
        taken = Set(texts: sources.map(\.name) + (names?.tables ?? []))
        try addEmbedded(names)
        for source in sources where source.table.kind != .embedded { addCollections(of: source.name, source.table, names) }
        for table in snapshot.classes {
            if let made = embedded[table.key] { addCollections(of: parts[made.part].table, table, names) }
        }
        if options.tables == nil {
            // Rows of collections whose objects have no table are noticed, too.
            let read = Set(sources.map(\.table.key))
            for table in snapshot.classes where table.kind != .embedded && !read.contains(table.key) {
                let name = table.className ?? table.name
                if names?.has(name) != true, names?.tablesOfClasses[name] == nil { addCollections(of: name, table, names) }
            }
        }
        for (index, part) in parts.enumerated() where part.isByName { claims[part.table, default: []].append(index) }
    }

    /// Adds the tables of embedded classes: those of the request, of the map, or of the same name.
    private func addEmbedded(_ names: SQLiteNames?) throws(Problem) {
        var given: [TableKey: String] = [:]
        for source in sources where source.table.kind == .embedded {
            if let other = given.updateValue(source.name, forKey: source.table.key) {
                throw .invalidParameter(
                    "tables",
                    "the tables '\(other.truncated)' and '\(source.name.truncated)' cannot both have the embedded objects of a class"
                )
            }
        }
        for table in snapshot.classes where table.kind == .embedded {
            let className = table.className ?? table.name
            let name = given[table.key] ?? names?.tablesOfClasses[className] ?? className
            let objects = names?.objects[name]
            if given[table.key] == nil {
                guard options.tables?[name] == nil, objects != nil || names?.has(name) != true else { continue }
                if let objects, objects.className != className { continue }
            }
            let plain = table.columns.filter { $0.collection == nil }.map(\.name)
            let part = Part(
                table: name, columns: objects.map { [$0.key] + $0.properties.map(\.column) } ?? ["_id"] + plain,
                what: "the embedded class '\(className.truncated)'",
                isMapped: objects != nil, isByName: objects == nil && given[table.key] == nil)
            embedded[table.key] = Embedded(
                part: parts.count,
                members: (objects?.properties.map(\.property) ?? plain).map { ($0, table.column(named: $0)) })
            parts.append(part)
        }
    }

    /// Adds the tables of the collections of a class whose objects are in a table: those of the map, and by their names those of
    /// the properties that it does not have.
    private func addCollections(of owner: String, _ table: Table, _ names: SQLiteNames?) {
        func add(_ name: String, _ property: String, _ columns: [String], isDictionary: Bool, isByName: Bool) {
            collections[owner, default: []].append(
                Collection(
                    property: property, column: table.column(named: property), isDictionary: isDictionary, part: parts.count))
            parts.append(
                Part(
                    table: name, columns: columns,
                    what: "'\(property.truncated)' of '\(owner.truncated)'", isCollection: true, isMapped: !isByName,
                    isByName: isByName))
        }
        var mapped: Set<ByteText> = []
        if let objects = names?.objects[owner] {
            let elements = names?.elements[objects.className] ?? []
            mapped = Set(texts: objects.properties.map(\.property) + elements.map(\.property))
            for each in elements where options.tables?[each.table] == nil {
                add(each.table, each.property, each.columns, isDictionary: each.isDictionary, isByName: false)
            }
        }
        for column in table.columns where column.collection != nil && !mapped.contains(ByteText(column.name)) {
            guard names?.has("\(owner)_\(column.name)") != true else { continue }
            let isDictionary = column.collection == .dictionary
            add(
                "\(owner)_\(column.name)", column.name, ["owner", isDictionary ? "key" : "position", "value"],
                isDictionary: isDictionary, isByName: true)
        }
    }

    /// Returns the collections of a class that have tables of their own.
    ///
    /// - Parameter given: The properties that columns have.
    func collections(of source: SQLiteImport.Source, without given: Set<ByteText>) throws -> [Collection] {
        let found = try present(source.name).filter { !given.contains(ByteText($0.property)) }
        placed.formUnion(found.map(\.part))
        return found
    }

    /// Returns the collections that are read, without those which the class does not have if these may be left out.
    private func present(_ owner: String) throws -> [Collection] {
        try (collections[owner] ?? []).filter { each in
            guard !options.isLenient || each.column != nil else { return false }
            return try statement(each.part) != nil
        }
    }

    /// Writes the collections of an object as members.
    ///
    /// - Parameters:
    ///   - collections: Those of its class that are read.
    ///   - owner: The key of the object in the tables.
    ///   - writer: Receives them.
    func write(_ collections: [Collection], of owner: SQLiteStatement.Found, to writer: inout JSONWriter) throws {
        for each in collections {
            let elements = try elements(each.part, of: owner)
            if options.isLenient, try elements.contains(where: { try isLeftOut($0.value, each.column) }) { continue }
            writer.key(MemberNaming.documents.member(each.property))
            try write(each, elements, to: &writer)
        }
    }

    /// Whether a value is the number of an embedded object whose table is left out, so that its property is left out, too.
    func isLeftOut(_ value: SQLiteStatement.Found, _ column: Column?) throws -> Bool {
        guard options.isLenient, case .int = value, let column, column.type == .link, let key = column.targetTable,
            snapshot.table(key)?.kind == .embedded
        else { return false }
        return try embedded[key].flatMap { try statement($0.part) } == nil
    }

    /// Writes an embedded object that a column refers to by its number.
    ///
    /// - Parameter writer: Receives the object.
    /// - Returns: Whether the value was such a number.
    /// - Throws: `SQLiteCell.Unfit` for the number of no row.
    func writeEmbedded(
        _ value: SQLiteStatement.Found, _ column: Column?, named name: String, to writer: inout JSONWriter
    ) throws -> Bool {
        guard case .int = value, let column, column.type == .link, let made = column.targetTable.flatMap({ embedded[$0] }),
            let row = try statement(made.part)
        else { return false }
        try row.find(value)
        repeat {
            guard try row.next() else {
                throw SQLiteCell.Unfit(
                    name: name,
                    detail: "column '\(name.truncated)': the table '\(parts[made.part].table.truncated)' "
                        + "has no embedded object with this number",
                    code: .linkTargetMissing)
            }
        } while !row.value(0).isSameKey(as: value)
        let cells = (1..<row.columnCount).map { row.value($0) }
        readCounts[made.part, default: 0] += 1
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= SQLiteParts.maximumNesting else { throw SQLiteFailure.malformed }
        writer.beginObject()
        for (cell, member) in zip(cells, made.members) {
            if options.isLenient, try member.column == nil || isLeftOut(cell, member.column) { continue }
            try write(cell, member.column, named: member.name, to: &writer)
        }
        try write(try present(parts[made.part].table), of: value, to: &writer)
        writer.endObject()
        return true
    }

    // MARK: - Rows

    /// Returns the statement that finds rows by their owner or number; nil when the table is not there, or is to be left out.
    ///
    /// - Throws: `invalid_body` for a table with other columns than it must have, unless it is to be left out.
    private func statement(_ position: Int) throws -> SQLiteStatement? {
        if let known = statements[position] { return known }
        let part = parts[position]
        var made: SQLiteStatement?
        if try isReadable(position) {
            let quoted = part.columns.map(SQLiteDatabase.quoted)
            let order = part.isCollection ? " ORDER BY \(quoted[1]) COLLATE BINARY" : ""
            made = try database.prepare(
                "SELECT \(quoted.joined(separator: ", ")) FROM \(SQLiteDatabase.quoted(part.table)) WHERE \(quoted[0]) = ?\(order)"
            )
        }
        statements[position] = .some(made)
        return made
    }

    /// Returns whether a table is there and has its columns.
    ///
    /// - Throws: `invalid_body` for what takes the place of a table, unless it may be left out.
    private func isReadable(_ position: Int) throws -> Bool {
        let part = parts[position]
        let entry = entries[ByteText(part.table.lowercasedASCII)]
        let problem: Problem
        if let entry, entry.isPlain, entry.name == part.table {
            // A name alone may mean several things, of which the columns fit one.
            let isClass = part.isByName && taken.contains(ByteText(part.table))
            guard !isClass || options.tables == nil else { return false }
            guard let found = try columns(part.table) else { return false }
            let all = part.isByName ? claims[part.table] ?? [] : [position]
            let fitting = all.filter { parts[$0].fits(found) }
            if isClass {
                guard fitting.contains(position), !options.isLenient else { return false }
                problem = ambiguous(part.table, fitting.map { parts[$0].what } + ["a class"])
            } else if fitting.count > 1, fitting.contains(position) {
                problem = ambiguous(part.table, fitting.map { parts[$0].what })
            } else if !fitting.isEmpty {
                return fitting == [position]
            } else {
                problem = Problem(
                    .invalidBody,
                    "the table '\(part.table.truncated)' must have the columns \(SQLiteImport.listed(part.columns)), as in an export, "
                        + "but has \(SQLiteImport.listed(found))" + SQLiteImport.leaving)
            }
        } else if !part.isByName {
            problem = SQLiteImport.notThere(part.table, entry)
        } else {
            guard let entry, options.tables?[entry.name] == nil, !taken.contains(ByteText(entry.name)),
                !entry.isPlain || claims[entry.name] == nil
            else { return false }
            problem = Problem(
                .invalidBody,
                entry.isPlain
                    ? "the table '\(entry.name.truncated)' has the letters of '\(part.table.truncated)' in another case; rename it"
                        + SQLiteImport.leaving
                    : SQLiteImport.noPlainTable(entry.name) + SQLiteImport.leaving)
        }
        guard options.isLenient else { throw problem }
        return false
    }

    private func ambiguous(_ table: String, _ meanings: [String]) -> Problem {
        Problem(
            .invalidBody,
            "the table '\(table.truncated)' may be \(meanings.joined(separator: " or ")); name the tables of classes with "
                + "tables=TABLE:CLASS" + SQLiteImport.leaving)
    }

    /// Returns the elements of a collection.
    private func elements(_ position: Int, of owner: SQLiteStatement.Found) throws -> [Element] {
        guard let rows = try statement(position) else { return [] }
        try rows.find(owner)
        var elements: [Element] = []
        var byteCount = 0
        while try rows.next() {
            guard rows.value(0).isSameKey(as: owner) else { continue }
            let element = (key: rows.value(1), value: rows.value(2))
            byteCount += MemoryLayout<Element>.stride + element.key.byteCount + element.value.byteCount
            guard byteCount <= byteLimit else { throw SQLiteFailure.tooLong }
            elements.append(element)
        }
        readCounts[position, default: 0] += elements.count
        return elements
    }

    /// Returns the name of a table of which more rows are there than were read; nil for none.
    ///
    /// Without `tables` all classes were read, so that each row of a table must have an owner. With `tables` so must those of the
    /// tables that it names for embedded classes.
    ///
    /// - Throws: `invalid_body` for what takes the place of a table.
    func tableWithRowsLeft() throws -> String? {
        let isWhole = options.tables == nil
        let classes = sources.filter { $0.table.kind != .embedded }
        let ofClasses = Set(classes.flatMap { collections[$0.name] ?? [] }.map(\.part))
        let ofEmbedded = sources.filter { $0.table.kind == .embedded }.flatMap { source in
            (embedded[source.table.key].map { [$0.part] } ?? []) + (collections[source.name] ?? []).map(\.part)
        }
        // Also tables of which no row has asked for any.
        for position in isWhole ? Array(parts.indices) : ofEmbedded { _ = try statement(position) }
        let counted = ofClasses.union(ofEmbedded)
        for (position, statement) in statements.sorted(by: { $0.key > $1.key })
        where statement != nil && (isWhole || counted.contains(position)) {
            let name = parts[position].table
            // Functions such as `count` do not run.
            let rows = try database.prepare("SELECT 1 FROM \(SQLiteDatabase.quoted(name)) NOT INDEXED")
            var left = readCounts[position] ?? 0
            while try rows.next() {
                if left == 0 { return name }
                left -= 1
            }
        }
        return nil
    }

    // MARK: - Tables without a class

    /// Returns the names of the tables and views that are not read, in the order of the database. If the request chooses tables,
    /// these are the collections of classes and embedded objects that are read.
    ///
    /// - Parameter all: The tables and views, without the map. All tables of classes were read.
    func tablesNotRead(of all: [SQLiteImport.Entry]) throws -> [String] {
        let isWhole = options.tables == nil
        var owners = sources.map(\.name)
        var read = placed
        for made in embedded.values where isWhole || statements[made.part] != nil {
            guard try statement(made.part) != nil else { continue }
            owners.append(parts[made.part].table)
            read.insert(made.part)
            read.formUnion(try present(parts[made.part].table).map(\.part))
        }
        let tables = Set(texts: owners + read.map { parts[$0].table })
        let left = all.filter { !tables.contains(ByteText($0.name)) }
        guard !isWhole else { return left.map(\.name) }
        let asked = Set(texts: owners.flatMap { collections[$0] ?? [] }.map { parts[$0.part].table })
        return try left.filter { try asked.contains(ByteText($0.name)) || isCollection($0, of: tables) }.map(\.name)
    }

    /// Whether a table has the columns of a collection, and its name begins like that of one of these tables. Exports of earlier
    /// versions have such tables, with numbers at the end of names that would have been the same.
    private func isCollection(_ entry: SQLiteImport.Entry, of owners: Set<ByteText>) throws -> Bool {
        // A name in an export has at most 63 bytes.
        guard entry.isPlain, entry.name.utf8.count <= 63, !taken.contains(ByteText(entry.name)) else { return false }
        let name = entry.name.lowercasedASCII
        // The longest table is the owner: `a_b_c` is of `a_b` before it is of `a`.
        let ends = name.utf8.indices.filter { name.utf8[$0] == UInt8(ascii: "_") }.reversed()
        let owner = ends.lazy.compactMap { [entries] in entries[ByteText(name[..<$0])] }.first
        guard let owner, owners.contains(ByteText(owner.name)), let found = try? columns(entry.name) else { return false }
        let columns = Set(texts: found)
        return ["position", "key"].contains { columns == ["owner", $0, "value"] }
    }

    // MARK: - JSON

    /// Writes an array, or for a dictionary an object.
    private func write(_ collection: Collection, _ elements: [Element], to writer: inout JSONWriter) throws {
        let (name, column) = (collection.property, collection.column)
        guard collection.isDictionary else {
            writer.beginArray()
            for element in elements { try write(element.value, column, named: name, isMember: false, to: &writer) }
            return writer.endArray()
        }
        writer.beginObject()
        for element in elements {
            guard case .text(let bytes) = element.key, let key = String(validating: bytes, as: UTF8.self) else {
                throw SQLiteCell.Unfit(name: name, detail: "a key of '\(name.truncated)' is not a text")
            }
            writer.key(key)
            try write(element.value, column, named: key, isMember: false, to: &writer)
        }
        writer.endObject()
    }

    /// Writes a value or an element.
    private func write(
        _ value: SQLiteStatement.Found, _ column: Column?, named name: String, isMember: Bool = true, to writer: inout JSONWriter
    ) throws {
        guard writer.count <= byteLimit else { throw SQLiteFailure.tooLong }
        let cell = SQLiteCell(name: name, column: column, snapshot: snapshot, isElement: !isMember)
        if isMember { cell.writeName(to: &writer) }
        guard try !writeEmbedded(value, column, named: column?.name ?? name, to: &writer) else { return }
        try cell.writeValue(value, to: &writer)
    }
}
