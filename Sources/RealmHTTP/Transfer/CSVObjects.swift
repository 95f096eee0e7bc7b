// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Reads objects of one class from CSV in the form in which exports write it: links as keys,
/// collections and Mixed values as JSON text.
///
/// The first record of the file has the names of the properties; each further one is an object.
/// Cells are read by the types in the schema of the moment when the import began.
struct CSVObjects: Sendable {
    /// The class of the imported objects, for the types of its properties.
    private let table: Table
    /// The version that the class belongs to, for the classes that links lead to.
    private let snapshot: Snapshot
    /// The bounds of JSON in cells.
    private let bounds: JSONBounds
    /// The names in the first record, in the order of the cells.
    private let names: [String]

    /// Reads the first record.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - snapshot: The version that the class belongs to.
    ///   - bounds: The bounds of JSON in cells.
    ///   - header: The bytes of the first record, without its line end.
    ///   - line: The line in which it begins, from 1.
    /// - Throws: `invalid_body` with `line` for a malformed record, or a name that occurs twice.
    init(_ table: Table, _ snapshot: Snapshot, bounds: JSONBounds, header: ArraySlice<UInt8>, line: Int) throws(Problem) {
        self.table = table
        self.snapshot = snapshot
        self.bounds = bounds
        names = try CSVRecord.cells(header, line: line).map(\.text)
        guard Set(names).count == names.count else { throw CSVObjects.malformed("a name occurs twice", line) }
        let others: [Character: String] = [";": "semicolons", "\t": "tabs", "|": "bars"]
        if names.count == 1, let first = names.first, let other = others.first(where: { first.contains($0.key) }),
            table.column(named: MemberNaming.documents.property(first)) == nil
        {
            throw CSVObjects.malformed(
                "there is one column, '\(first.brief)'; the fields of CSV are separated by commas here, not by \(other.value)",
                line)
        }
    }

    /// Returns the object in a record; nil for an empty line, unless there is only one property,
    /// whose value then is empty.
    ///
    /// An error in a value is kept in the object; it is reported when the object is written.
    ///
    /// - Throws: `invalid_body` with `line` for a record that is malformed or has another number of
    ///   cells than the first one.
    func object(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) throws(Problem) -> ImportedObject? {
        if bytes.isEmpty, names.count > 1 { return nil }
        let cells = try CSVRecord.cells(bytes, line: place.line)
        guard cells.count == names.count else {
            throw CSVObjects.malformed("the line has \(cells.count) cells, but the first line has \(names.count)", place.line)
        }
        return try object(cells, place)
    }

    /// Makes the problem of a record that is malformed.
    private static func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    /// Makes an object of the cells of a record. The column `$key` is the object's key where it
    /// comes from, and no property.
    private func object(_ cells: [CSVRecord.Cell], _ place: RecordPlace) throws(Problem) -> ImportedObject {
        var key: String?
        var members: [(name: String, value: InputValue)] = []
        for (name, cell) in zip(names, cells) {
            if name == "$key" {
                key = cell.text
                continue
            }
            let value: Result<InputValue, InputReader.InputError>
            do throws(InputReader.InputError) {
                value = .success(try self.value(cell, name))
            } catch {
                value = .failure(error.inside(.name(name)))
            }
            guard case .success(let read) = value else {
                if case .failure(let inputError) = value {
                    return ImportedObject(place: place, className: table.className ?? "", key: key, body: .failure(inputError))
                }
                continue
            }
            members.append((name: name, value: read))
        }
        return ImportedObject(place: place, className: table.className ?? "", key: key, body: .success(InputObject(members)))
    }

    /// Reads a cell by the type of its property.
    ///
    /// An empty cell without quotes is null, or an empty collection. A cell for a property that
    /// does not exist remains text; the engine refuses its name.
    private func value(_ cell: CSVRecord.Cell, _ name: String) throws(InputReader.InputError) -> InputValue {
        guard let column = table.column(named: MemberNaming.documents.property(name)) else { return .text(cell.text) }
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

    /// Reads a cell for a link: the text of a key, or the JSON of an embedded object.
    private func link(_ text: String, _ column: Column) throws(InputReader.InputError) -> InputValue {
        guard let target = column.targetTable.flatMap({ snapshot.table($0) }) else { return .text(text) }
        if target.kind == .embedded { return try json(text) }
        return .link(.stub(className: target.className ?? "", key: .text(text)))
    }

    /// Reads a cell whose text is JSON.
    private func json(_ text: String) throws(InputReader.InputError) -> InputValue {
        let parsed: JSONValue
        do throws(JSONError) {
            parsed = try JSONParser.parse(Array(text.utf8), bounds)
        } catch {
            throw InputReader.InputError(code: .typeMismatch, detail: "the cell is not JSON: \(error)")
        }
        return try InputReader().value(parsed)
    }
}
