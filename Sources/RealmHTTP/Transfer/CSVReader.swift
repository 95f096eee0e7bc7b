// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Splits one record of CSV (RFC 4180) into cells.
struct CSVRecord {
    /// A cell; one without quotes may be empty, which means null.
    struct Cell: Sendable, Equatable {
        let text: String
        let isQuoted: Bool
    }

    /// The cells of a record without its line end, which begins in `line`. Errors have a `line`.
    static func cells(_ bytes: ArraySlice<UInt8>, line: Int) throws(Problem) -> [Cell] {
        var record = CSVRecord(bytes, line: line)
        var cells: [Cell] = []
        while true {
            guard cells.count < maximumCount else { throw record.malformed("a line has at most \(maximumCount) cells") }
            cells.append(try record.cell())
            guard record.index < bytes.endIndex else { return cells }
            // A comma: nothing else ends a cell within a record.
            record.index += 1
        }
    }

    /// As many properties as a class can have, and a key.
    private static let maximumCount = 65_536

    private let bytes: ArraySlice<UInt8>
    private var index: Int
    private let line: Int

    private init(_ bytes: ArraySlice<UInt8>, line: Int) {
        self.bytes = bytes
        self.line = line
        index = bytes.startIndex
    }

    private func malformed(_ detail: String) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    private mutating func cell() throws(Problem) -> Cell {
        guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else {
            let start = index
            while index < bytes.endIndex, bytes[index] != UInt8(ascii: ",") { index += 1 }
            return Cell(text: try text(bytes[start..<index]), isQuoted: false)
        }
        index += 1
        var content: [UInt8] = []
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else { return try quoted(content) }
                index += 1
            }
            content.append(byte)
        }
        throw malformed("a quoted cell does not end")
    }

    private func quoted(_ content: [UInt8]) throws(Problem) -> Cell {
        guard index >= bytes.endIndex || bytes[index] == UInt8(ascii: ",") else {
            throw malformed("something stands behind a quoted cell")
        }
        return Cell(text: try text(content[...]), isQuoted: true)
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed("the text is not UTF-8") }
        return text
    }
}

/// Reads objects of one class from CSV as exports write it: links as keys, collections and Mixed as JSON text.
struct CSVObjects: Sendable {
    private let table: Table
    private let snapshot: Snapshot
    private let bounds: JSONBounds
    private let names: [String]

    /// `header` is the first record: the names of the properties.
    init(_ table: Table, _ snapshot: Snapshot, bounds: JSONBounds, header: ArraySlice<UInt8>, line: Int) throws(Problem) {
        self.table = table
        self.snapshot = snapshot
        self.bounds = bounds
        names = try CSVRecord.cells(header, line: line).map(\.text)
        guard Set(names).count == names.count else { throw CSVObjects.malformed("a name stands there twice", line) }
    }

    /// The object in a record; nil for a line without anything, unless there is but one property.
    func object(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) throws(Problem) -> ImportedObject? {
        if bytes.isEmpty, names.count > 1 { return nil }
        let cells = try CSVRecord.cells(bytes, line: place.line)
        guard cells.count == names.count else {
            throw CSVObjects.malformed("the line has \(cells.count) cells, the first one \(names.count)", place.line)
        }
        return try object(cells, place)
    }

    private static func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    private func object(_ cells: [CSVRecord.Cell], _ place: RecordPlace) throws(Problem) -> ImportedObject {
        var key: String?
        var members: [(name: String, value: InputValue)] = []
        for (name, cell) in zip(names, cells) {
            if name == "$key" {
                key = cell.text
                continue
            }
            let value: Result<InputValue, InputReader.Mistake>
            do throws(InputReader.Mistake) {
                value = .success(try self.value(cell, name))
            } catch {
                value = .failure(error.inside(.name(name)))
            }
            guard case .success(let read) = value else {
                if case .failure(let mistake) = value {
                    return ImportedObject(place: place, className: table.className ?? "", key: key, body: .failure(mistake))
                }
                continue
            }
            members.append((name: name, value: read))
        }
        return ImportedObject(place: place, className: table.className ?? "", key: key, body: .success(InputObject(members)))
    }

    private func value(_ cell: CSVRecord.Cell, _ name: String) throws(InputReader.Mistake) -> InputValue {
        let property = name.hasPrefix("$$") ? String(name.dropFirst()) : name
        guard let column = table.column(named: property) else { return .text(cell.text) }
        if cell.text.isEmpty, !cell.isQuoted {
            return column.collection == nil ? .null : column.collection == .dictionary ? .object([:]) : .list([])
        }
        guard column.collection == nil else { return try json(cell.text) }
        switch column.type {
        case .bool: return cell.text == "true" ? .bool(true) : cell.text == "false" ? .bool(false) : .text(cell.text)
        case .float, .double: return JSONTokens.isNumber(cell.text[...].utf8) ? try json(cell.text) : .text(cell.text)
        case .mixed: return try json(cell.text)
        case .link: return try link(cell.text, column)
        default: return .text(cell.text)
        }
    }

    /// A key, or an embedded object.
    private func link(_ text: String, _ column: Column) throws(InputReader.Mistake) -> InputValue {
        guard let target = column.targetTable.flatMap({ snapshot.table($0) }) else { return .null }
        if target.kind == .embedded { return try json(text) }
        return .link(.stub(className: target.className ?? "", key: .text(text)))
    }

    private func json(_ text: String) throws(InputReader.Mistake) -> InputValue {
        let parsed: JSONValue
        do throws(Problem) {
            parsed = try JSONParser.parse(Array(text.utf8), depthLimit: bounds.depth, valueLimit: bounds.values)
        } catch {
            throw InputReader.Mistake(code: .typeMismatch, detail: "the cell is no JSON: \(error.detail)")
        }
        return try InputReader().value(parsed)
    }
}
