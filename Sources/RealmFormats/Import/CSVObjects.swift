// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads objects of one class from CSV in the form in which exports write it: links as keys,
/// collections and Mixed values as JSON text.
///
/// The first record of the file has the names of the properties; each later one is an object. Cells are read by the types in the
/// schema of the moment when the import began.
struct CSVObjects: Sendable {
    /// A property that cells have values of.
    private struct Property {
        let name: String
        /// Its column; nil for one that does not exist.
        let column: Column?
        /// The class that its links lead to, as far as the client sees it.
        let target: (name: String, isEmbedded: Bool)?
    }

    private let className: String
    /// The bounds of JSON in cells.
    private let bounds: JSONBounds
    /// The properties, in the order of the cells; nil for columns that are ignored. The version is not kept: an import in several
    /// commits would hold all space that they free.
    private let properties: [Property?]
    /// The separator of cells.
    private let separator: UInt8
    /// The columns that are ignored.
    private(set) var ignored = IgnoredMembers()

    /// Reads the first record.
    ///
    /// - Parameters:
    ///   - snapshot: The version that the class belongs to.
    ///   - bounds: The bounds of JSON in cells.
    ///   - header: The bytes of the first record, without its line end.
    ///   - line: The line in which it begins, from 1.
    ///   - options: The mapping of its names to properties.
    ///   - separator: The separator of cells.
    /// - Throws: `invalid_body` with `line` for a malformed record, a name that occurs twice, or no known name;
    ///   `invalid_parameter` for a mapped column that the record does not have.
    init(
        _ table: Table, _ snapshot: Snapshot, bounds: JSONBounds, header: ArraySlice<UInt8>, line: Int, options: ImportOptions,
        separator: UInt8
    ) throws(Problem) {
        className = table.className ?? ""
        self.bounds = bounds
        self.separator = separator
        let texts = try CSVObjects.texts(header, line, separator)
        for name in options.columns.keys.sorted().texts where !texts.contains(name) {
            throw .invalidParameter("columns", "the first line has no column '\(name)', but \(texts.joined(separator: ", "))")
        }
        if texts.count == 1, texts[0].contains(";"), separator != UInt8(ascii: ";") {
            throw CSVObjects.malformed(
                "the cells are separated by semicolons: leave 'separator' out, or send separator=semicolon", line)
        }
        let names = try CSVObjects.names(texts, of: table, options, line: line)
        properties = names.map { name in
            guard let name else { return nil }
            let column = table.column(named: MemberNaming.documents.property(name))
            let target = column?.targetTable.flatMap { snapshot.table($0) }
            return Property(
                name: name, column: column, target: target.map { ($0.className ?? "", $0.kind == .embedded) })
        }
        for (name, text) in zip(names, texts) where name == nil { ignored.add(text, of: table.className ?? table.name) }
    }

    /// Returns the cells of the first record. One that is malformed may be no CSV at all.
    private static func texts(_ header: ArraySlice<UInt8>, _ line: Int, _ separator: UInt8) throws(Problem) -> [String] {
        do throws(Problem) {
            return try CSVRecord.cells(header, line: line, separator: separator).map(\.text)
        } catch {
            if header.starts(with: Array("PK".utf8)) {
                throw malformed("the body is a ZIP archive, as workbooks are; save it as CSV", line)
            }
            guard header.first == UInt8(ascii: "[") || header.first == UInt8(ascii: "{") else { throw error }
            throw malformed("the first line is no CSV; JSON has the Content-Type application/json", line)
        }
    }

    /// Returns the properties for the names of the first record; nil for those that are ignored.
    private static func names(
        _ texts: [String], of table: Table, _ options: ImportOptions, line: Int
    ) throws(Problem) -> [String?] {
        func isKnown(_ name: String) -> Bool {
            name == "$key" || table.column(named: MemberNaming.documents.property(name)) != nil
        }
        let names = texts.map { options.columns[$0] ?? $0 }.map { isKnown($0) || !options.isLenient ? $0 : nil }
        guard names.contains(where: { $0.map(isKnown) ?? false }) else {
            throw malformed(
                "the first line must have names of properties of '\(table.className ?? table.name)', but has \(found(texts))",
                line)
        }
        var seen: [ByteText: String] = [:]
        for (index, name) in names.enumerated() {
            guard let name else { continue }
            guard !name.isEmpty || isKnown(name) else {
                throw malformed(
                    "column \(index + 1) has no name in the first line; 'Prefer: handling=lenient' leaves such columns out", line)
            }
            guard let other = seen.updateValue(texts[index], forKey: name) else { continue }
            throw malformed(
                other == texts[index]
                    ? "the first line has '\(name.truncated)' twice"
                    : "'\(other.truncated)' and '\(texts[index].truncated)' of the first line both mean '\(name.truncated)'", line
            )
        }
        return names
    }

    /// Returns the text in the place of names in the first record, and its probable kind.
    private static func found(_ texts: [String]) -> String {
        let text = texts.joined(separator: ", ")
        guard !text.isEmpty else { return "none" }
        var hint = ""
        if text.hasPrefix("[") || text.hasPrefix("{") { hint = "; JSON has the Content-Type application/json" }
        if text.hasPrefix("PK\u{3}\u{4}") { hint = "; save a workbook as CSV first" }
        if texts.count == 1, text.contains("|") { hint = "; cells are separated by commas, semicolons or tabs" }
        return "'\(text.truncated)'" + hint
    }

    /// Whether an empty line is no object.
    var skipsBlank: Bool { properties.count > 1 }

    /// Returns the object in a record; nil for an empty line, unless there is only one property, whose value then is empty.
    ///
    /// An error in a value is kept in the object; it is reported when the object is written.
    ///
    /// - Throws: `invalid_body` with `line` for a record that is malformed or has another number of
    ///   cells than the first one.
    func object(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) throws(Problem) -> ImportedObject? {
        if bytes.isEmpty, skipsBlank { return nil }
        let cells = try CSVRecord.cells(bytes, line: place.line, separator: separator)
        guard cells.count == properties.count else {
            throw CSVObjects.malformed(
                "the line has \(cells.count) cells, but the first line has \(properties.count)", place.line)
        }
        return try object(cells, place)
    }

    /// Makes the problem of a record that is malformed.
    private static func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    /// Makes an object of the cells of a record. The column `$key` is the object's key where it comes from, and no property.
    private func object(_ cells: [CSVRecord.Cell], _ place: RecordPlace) throws(Problem) -> ImportedObject {
        var key: String?
        var members: [(name: String, value: InputValue)] = []
        for (property, cell) in zip(properties, cells) {
            guard let property else { continue }
            if property.name == "$key" {
                key = cell.text
                continue
            }
            let value: Result<InputValue, InputReader.InputError>
            do throws(InputReader.InputError) {
                value = .success(try self.value(cell, property))
            } catch {
                value = .failure(error.inside(.name(property.name)))
            }
            guard case .success(let read) = value else {
                if case .failure(let inputError) = value {
                    return ImportedObject(place: place, className: className, key: key, body: .failure(inputError))
                }
                continue
            }
            members.append((name: property.name, value: read))
        }
        return ImportedObject(place: place, className: className, key: key, body: .success(InputObject(members)))
    }

    /// Reads a cell by the type of its property.
    ///
    /// An empty cell without quotes is null, or an empty collection. A cell for a property that
    /// does not exist remains text; the engine refuses its name.
    private func value(_ cell: CSVRecord.Cell, _ property: Property) throws(InputReader.InputError) -> InputValue {
        guard let column = property.column else { return .text(cell.text) }
        if cell.text.isEmpty, !cell.isQuoted {
            return column.collection == nil ? .null : column.collection == .dictionary ? .object([:]) : .list([])
        }
        guard column.collection == nil else { return try json(cell.text) }
        switch column.type {
        case .bool: return CSVObjects.truthValues[cell.text].map { .bool($0) } ?? .text(cell.text)
        // A date that RFC 3339 does not have is written as JSON.
        case .timestamp where cell.text.hasPrefix("{"): return try json(cell.text)
        case .float, .double: return JSONTokens.isNumber(cell.text[...].utf8) ? try json(cell.text) : .text(cell.text)
        case .mixed: return try json(cell.text)
        case .link: return try link(cell.text, property)
        default: return .text(cell.text)
        }
    }

    /// Truth values as exports, spreadsheets and SQLite write them.
    private static let truthValues: [ByteText: Bool] = [
        "true": true, "false": false, "TRUE": true, "FALSE": false, "True": true, "False": false, "1": true, "0": false,
    ]

    /// Reads a cell for a link: the text of a key, or the JSON of an embedded object.
    private func link(_ text: String, _ property: Property) throws(InputReader.InputError) -> InputValue {
        guard let target = property.target else { return .text(text) }
        if target.isEmbedded { return try json(text) }
        return .link(.stub(className: target.name, key: .text(text)))
    }

    /// Reads a cell whose text is JSON.
    private func json(_ text: String) throws(InputReader.InputError) -> InputValue {
        let parsed: JSONValue
        do throws(JSONError) {
            parsed = try JSONParser.parse(Array(text.utf8), bounds)
        } catch {
            throw InputReader.InputError(
                code: .typeMismatch, detail: #"the cell is not JSON, in which a list is ["a","b"] and a text "a": \#(error)"#)
        }
        return try InputReader().value(parsed)
    }
}
