// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Splits CSV (RFC 4180) into records.
struct CSVRecords {
    /// A cell; one without quotes may be empty, which means null.
    struct Cell: Sendable, Equatable {
        let text: String
        let isQuoted: Bool
    }

    /// The records with the lines they begin in, counted from 1. Errors have a `line`.
    static func parse(_ bytes: [UInt8]) throws(Problem) -> [(line: Int, cells: [Cell])] {
        var parser = CSVRecords(bytes)
        var records: [(line: Int, cells: [Cell])] = []
        while parser.index < bytes.count {
            let line = parser.line
            records.append((line: line, cells: try parser.record()))
        }
        return records
    }

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // A mark that some programs put in front of UTF-8.
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    }

    private func malformed(_ detail: String) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    private mutating func record() throws(Problem) -> [Cell] {
        var cells: [Cell] = []
        while true {
            cells.append(try cell())
            guard index < bytes.count else { return cells }
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: ",") { continue }
            if byte == UInt8(ascii: "\r"), index < bytes.count, bytes[index] == UInt8(ascii: "\n") { index += 1 }
            line += 1
            return cells
        }
    }

    private mutating func cell() throws(Problem) -> Cell {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
            let start = index
            while index < bytes.count, !CSVRecords.isEnd(bytes[index]) { index += 1 }
            return Cell(text: try text(bytes[start..<index]), isQuoted: false)
        }
        index += 1
        var content: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return try quoted(content) }
                index += 1
            } else if byte == UInt8(ascii: "\n") {
                line += 1
            }
            content.append(byte)
        }
        throw malformed("a quoted cell does not end")
    }

    private func quoted(_ content: [UInt8]) throws(Problem) -> Cell {
        guard index >= bytes.count || CSVRecords.isEnd(bytes[index]) else { throw malformed("something stands behind a quoted cell") }
        return Cell(text: try text(content[...]), isQuoted: true)
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed("the text is not UTF-8") }
        return text
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}

/// Reads objects of one class from CSV as exports write it: links as keys, collections and Mixed as JSON text.
struct CSVObjects {
    private let table: Table
    private let snapshot: Snapshot
    private let depthLimit: Int

    init(_ table: Table, _ snapshot: Snapshot, depthLimit: Int) {
        self.table = table
        self.snapshot = snapshot
        self.depthLimit = depthLimit
    }

    func read(_ bytes: [UInt8]) throws(Problem) -> [ImportedObject] {
        var records = try CSVRecords.parse(bytes)[...]
        guard let header = records.popFirst() else { throw Problem(.invalidBody, "the first line has the names of the properties") }
        let names = header.cells.map(\.text)
        guard Set(names).count == names.count else { throw malformed("a name stands there twice", header.line) }
        var objects: [ImportedObject] = []
        objects.reserveCapacity(records.count)
        for record in records {
            // A line without anything is no object, unless there is but one property.
            if record.cells.count == 1, names.count > 1, record.cells[0].text.isEmpty { continue }
            guard record.cells.count == names.count else {
                throw malformed("the line has \(record.cells.count) cells, the first one \(names.count)", record.line)
            }
            objects.append(try object(names, record.cells, record.line))
        }
        return objects
    }

    private func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    private func object(_ names: [String], _ cells: [CSVRecords.Cell], _ line: Int) throws(Problem) -> ImportedObject {
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
                    return ImportedObject(line: line, className: table.className ?? "", key: key, body: .failure(mistake))
                }
                continue
            }
            members.append((name: name, value: read))
        }
        return ImportedObject(line: line, className: table.className ?? "", key: key, body: .success(InputObject(members)))
    }

    private func value(_ cell: CSVRecords.Cell, _ name: String) throws(InputReader.Mistake) -> InputValue {
        let property = name.hasPrefix("$$") ? String(name.dropFirst()) : name
        guard let column = table.column(named: property) else { return .text(cell.text) }
        if cell.text.isEmpty, !cell.isQuoted { return column.collection == nil ? .null : column.collection == .dictionary ? .object([:]) : .list([]) }
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
            parsed = try JSONParser.parse(text, depthLimit: depthLimit)
        } catch {
            throw InputReader.Mistake(code: .typeMismatch, detail: "the cell is no JSON: \(error.detail)")
        }
        return try InputReader().value(parsed)
    }
}
