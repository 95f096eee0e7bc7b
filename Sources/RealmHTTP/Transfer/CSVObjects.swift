// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

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
        do throws(JSONError) {
            parsed = try JSONParser.parse(Array(text.utf8), bounds)
        } catch {
            throw InputReader.Mistake(code: .typeMismatch, detail: "the cell is no JSON: \(error)")
        }
        return try InputReader().value(parsed)
    }
}
