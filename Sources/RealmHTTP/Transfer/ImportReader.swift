// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Reads the objects of an import one by one: an export, lines of objects of one class, or CSV of one class.
///
/// Errors name their line. With a header there has to be a trailer, so that nothing cut is taken for the whole.
package struct ImportReader: Sendable {
    /// What a line of an import is.
    enum Item: Sendable {
        /// The schema of the header, which makes the classes of an empty realm.
        case schema(SchemaInput)
        case object(ImportedObject)
    }

    private let source: ImportSource
    private let className: String?
    private let bounds: JSONBounds
    private var records: RecordReader
    /// Nil for NDJSON.
    private var csv: CSVObjects?
    private var hasHeader = false
    private var count = 0
    /// The number of objects in the trailer.
    private var end: Int?

    /// NDJSON; `className` is the class of objects that do not tell theirs.
    package init(_ source: ImportSource, className: String?, bounds: JSONBounds) {
        self.source = source
        self.className = className
        self.bounds = bounds
        records = RecordReader(source, .lines)
    }

    /// CSV of the objects of `table`; the first line has the names of the properties.
    init(csv source: ImportSource, _ table: Table, _ snapshot: Snapshot, bounds: JSONBounds) throws(Problem) {
        self.source = source
        self.bounds = bounds
        className = table.className
        records = RecordReader(source, .csv)
        guard let header = try records.next() else {
            throw Problem(.invalidBody, "the first line has the names of the properties")
        }
        csv = try CSVObjects(table, snapshot, bounds: bounds, header: header.bytes, line: header.place.line)
    }

    /// The next item, or nil when everything was there.
    mutating func next() throws(Problem) -> Item? {
        while let (place, bytes) = try records.next() {
            if let csv {
                guard let object = try csv.object(bytes, place) else { continue }
                count += 1
                return .object(object)
            }
            guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { continue }
            if let item = try item(bytes, place) { return item }
        }
        guard !hasHeader || end == count else {
            throw Problem(.invalidBody, "the export is cut: its trailer is missing, or tells another number of objects")
        }
        return nil
    }

    /// An object that was read before.
    func object(at place: RecordPlace) throws(Problem) -> ImportedObject {
        let bytes = try source.read(at: place.offset, byteCount: place.byteCount)
        if let csv, let object = try csv.object(bytes, place) { return object }
        return try object(try parse(bytes, place.line), place)
    }

    // MARK: - NDJSON

    private func parse(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(Problem) -> JSONValue {
        do throws(JSONError) {
            return try JSONParser.parse(Array(bytes), bounds)
        } catch {
            throw Problem(error).with("line", .integer(Int64(line)))
        }
    }

    /// Nil for a trailer.
    private mutating func item(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) throws(Problem) -> Item? {
        let value = try parse(bytes, place.line)
        guard end == nil else { throw malformed("something stands behind the trailer", place.line) }
        if let (name, inner) = value.object?.single, name == "$begin" || name == "$end" {
            guard name == "$begin" else {
                end = try objectCount(inner, place.line)
                return nil
            }
            guard !hasHeader, count == 0 else { throw malformed("a header stands in the first line", place.line) }
            hasHeader = true
            return .schema(try schema(inner, place.line))
        }
        let object = try object(value, place)
        count += 1
        return .object(object)
    }

    private func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    private func objectCount(_ value: JSONValue, _ line: Int) throws(Problem) -> Int {
        guard case .integer(let count)? = value.object?["objects"], count >= 0 else {
            throw malformed("the trailer tells the number of objects", line)
        }
        return Int(count)
    }

    private func schema(_ value: JSONValue, _ line: Int) throws(Problem) -> SchemaInput {
        guard let object = value.object, object["format"] == .integer(1), let schema = object["schema"] else {
            throw malformed("the header has the format 1 and a schema", line)
        }
        return try SchemaReader(place: InputPlace(pointer: "/$begin/schema", line: line)).schema(schema)
    }

    private func object(_ value: JSONValue, _ place: RecordPlace) throws(Problem) -> ImportedObject {
        let meta = value.object?["$meta"]?.object
        guard let name = meta?["class"]?.string ?? className else {
            throw malformed("the line does not tell the class of its object; say it with 'class'", place.line)
        }
        guard className == nil || className == name else { throw malformed("the object is of the class '\(name)'", place.line) }
        return ImportedObject(place: place, className: name, key: meta?["key"]?.string, body: ObjectBodies.read(value))
    }
}
