// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads single records of an import: the meaning of a record that does not depend on its place in the input.
struct RecordParser: Sendable {
    enum Record: Sendable {
        /// An object, with its values or the error in them.
        case object(ImportedObject)
        /// The header or trailer line of an export: its name and its content.
        case frame(name: String, JSONValue, line: Int)
    }

    /// The class of objects that do not state theirs; nil when every object has to.
    let className: String?
    /// The bounds of JSON in one line or cell.
    let bounds: JSONBounds
    /// Reads the records of CSV; nil for JSON.
    var csv: CSVObjects?

    /// Reads a record; nil for a blank one.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the record, without its line end.
    ///   - place: Its place in the input.
    ///   - names: The names of members in records before this one.
    /// - Throws: `invalid_json` or `invalid_body` with `line`. A wrong value is no error here: it is kept in the object.
    func record(
        _ bytes: ArraySlice<UInt8>, _ place: RecordPlace, _ names: inout JSONNames
    ) throws(Problem) -> Record? {
        if let csv { return try csv.object(bytes, place).map(Record.object) }
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { return nil }
        let value = try parse(bytes, place, &names)
        if let (name, inner) = value.object?.single, name == "$begin" || name == "$end" {
            return .frame(name: name, inner, line: place.line)
        }
        return .object(try object(value, place))
    }

    /// Reads a record that was an object when it was read before.
    func object(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) throws(Problem) -> ImportedObject {
        if let csv, let object = try csv.object(bytes, place) { return object }
        var names = JSONNames(isUsed: false)
        return try object(try parse(bytes, place, &names), place)
    }

    /// Parses the JSON of one record; errors state their place in the body.
    private func parse(
        _ bytes: ArraySlice<UInt8>, _ place: RecordPlace, _ names: inout JSONNames
    ) throws(Problem) -> JSONValue {
        do throws(JSONError) {
            return try JSONParser.parse(bytes, bounds, &names)
        } catch {
            guard case .malformed(let line, let column, let reason) = error else {
                throw Problem(error).with("line", .integer(Int64(place.line)))
            }
            let before = line == 1 ? place.column : 0
            let found = JSONError.malformed(line: place.line + line - 1, column: before + column, reason: reason)
            throw Problem(found).with("line", .integer(Int64(place.line + line - 1)))
        }
    }

    /// Makes an object of one line. Its class is that in `$meta`, or the class of the whole import.
    private func object(_ value: JSONValue, _ place: RecordPlace) throws(Problem) -> ImportedObject {
        let meta = value.object?["$meta"]?.object
        guard let name = meta?["class"]?.string ?? className else {
            throw RecordParser.malformed(
                "the line does not name the class of its object; the parameter 'class' names it, on the command line --class",
                place.line)
        }
        guard className == nil || className == name else {
            throw RecordParser.malformed(
                "the class of the object is '\(name)', and 'class' names another one", place.line)
        }
        return ImportedObject(place: place, className: name, key: meta?["key"]?.string, body: InputReader.read(value))
    }

    static func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }
}
