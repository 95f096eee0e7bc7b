// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmStorage

/// Reads the objects of an import one by one: an export in NDJSON, lines of objects of one class,
/// or CSV of one class.
///
/// Errors state the line. Input with a header line must have a trailer line, so that a truncated
/// export is not imported as if it were complete. The reader is a value: a copy is a position to
/// which an import can return.
package struct ImportReader: Sendable {
    /// What a line of an import is.
    enum Item: Sendable {
        /// The schema in the header line. It creates the classes of a realm that has none.
        case schema(SchemaInput)
        /// One object of the import, with its values or the error in them.
        case object(ImportedObject)
    }

    /// The body of the import, from which records can be read again.
    private let source: ImportSource
    /// The class of objects that do not state theirs; nil when every object has to.
    private let className: String?
    /// The bounds of JSON in one line or cell.
    private let bounds: JSONBounds
    /// Cuts the body into lines or records of CSV.
    private var records: RecordReader
    /// Reads the records of CSV; nil for NDJSON.
    private var csv: CSVObjects?
    /// Whether there was a header line, so that a trailer line is due.
    private var hasHeader = false
    /// The number of objects read so far.
    private var count = 0
    /// The number of objects that the trailer line states; nil before it.
    private var end: Int?

    /// Creates a reader of NDJSON.
    ///
    /// - Parameters:
    ///   - source: The bytes of the body.
    ///   - className: The class of objects that do not state theirs in `$meta`. Objects of another
    ///     class are then refused. Nil when every object states its class.
    ///   - bounds: The bounds of JSON in each line.
    ///   - isArray: Whether the body is a JSON array of the objects.
    package init(_ source: ImportSource, className: String?, bounds: JSONBounds, isArray: Bool = false) {
        self.source = source
        self.className = className
        self.bounds = bounds
        records = RecordReader(source, isArray ? .array : .lines)
    }

    /// Creates a reader of CSV, and reads the first record, which has the names of the properties.
    ///
    /// - Parameters:
    ///   - source: The bytes of the body.
    ///   - table: The class of the objects.
    ///   - snapshot: The version that the class belongs to.
    ///   - bounds: The bounds of JSON in cells.
    ///   - options: How the names of columns become those of properties.
    /// - Throws: `invalid_body` for a body without a first record, or a malformed one.
    package init(
        csv source: ImportSource, _ table: Table, _ snapshot: Snapshot, bounds: JSONBounds,
        options: ImportOptions = ImportOptions()
    ) throws(Problem) {
        self.source = source
        self.bounds = bounds
        className = table.className
        let separator = if let stated = options.separator { stated } else { try CSVSeparator.sniff(source) }
        records = RecordReader(source, .csv, separator: separator)
        var first = try records.next()
        // By such a line Excel learns what separates the cells.
        if let line = first?.bytes, line.elementsEqual(Array("sep=".utf8) + [separator]) { first = try records.next() }
        guard let header = first else {
            throw Problem(.invalidBody, "the body needs a first line with the names of the properties")
        }
        csv = try CSVObjects(
            table, snapshot, bounds: bounds, header: header.bytes, line: header.place.line, options: options,
            separator: separator)
    }

    /// Returns the next item, or nil when the input is complete. Blank lines are skipped.
    ///
    /// - Throws: `invalid_json`, `invalid_body` or `body_too_large` with `line`; `invalid_body`
    ///   without `line` at the end of a truncated export. A wrong value is no error here: it is
    ///   kept in the object.
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
            throw Problem(.invalidBody, "the export is truncated: its trailer is missing, or states another number of objects")
        }
        return nil
    }

    /// Reads an object a second time, from the place that an earlier item had.
    ///
    /// - Throws: `internal_error` when the body cannot be read.
    func object(at place: RecordPlace) throws(Problem) -> ImportedObject {
        let bytes = try source.read(at: place.offset, byteCount: place.byteCount)
        if let csv, let object = try csv.object(bytes, place) { return object }
        return try object(try parse(bytes, place), place)
    }

    // MARK: - NDJSON

    /// Parses the JSON of one record; errors state their place in the body.
    private func parse(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) throws(Problem) -> JSONValue {
        do throws(JSONError) {
            return try JSONParser.parse(Array(bytes), bounds)
        } catch {
            guard case .malformed(let line, let column, let reason) = error else {
                throw Problem(error).with("line", .integer(Int64(place.line)))
            }
            let before = line == 1 ? place.column : 0
            let found = JSONError.malformed(line: place.line + line - 1, column: before + column, reason: reason)
            throw Problem(found).with("line", .integer(Int64(place.line + line - 1)))
        }
    }

    /// Returns the item of one line; nil for a trailer line.
    private mutating func item(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) throws(Problem) -> Item? {
        let value = try parse(bytes, place)
        guard end == nil else { throw malformed("the trailer is followed by another line", place.line) }
        if let (name, inner) = value.object?.single, name == "$begin" || name == "$end" {
            guard name == "$begin" else {
                end = try objectCount(inner, place.line)
                return nil
            }
            guard !hasHeader, count == 0 else { throw malformed("a header has to be the first line", place.line) }
            hasHeader = true
            return .schema(try schema(inner, place.line))
        }
        let object = try object(value, place)
        count += 1
        return .object(object)
    }

    /// Makes the problem of a line that is malformed.
    private func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    /// Returns the number of objects that a trailer line states.
    private func objectCount(_ value: JSONValue, _ line: Int) throws(Problem) -> Int {
        guard case .integer(let count)? = value.object?["objects"], count >= 0 else {
            throw malformed("the trailer has to state the number of objects", line)
        }
        return Int(count)
    }

    /// Returns the schema of a header line, whose format has to be 1.
    private func schema(_ value: JSONValue, _ line: Int) throws(Problem) -> SchemaInput {
        guard let object = value.object, object["format"] == .integer(1), let schema = object["schema"] else {
            throw malformed("the header needs 'format' 1 and a 'schema'", line)
        }
        return try SchemaReader(place: InputPlace(pointer: "/$begin/schema", line: line)).schema(schema)
    }

    /// Makes an object of one line. Its class is that in `$meta`, or the class of the whole import.
    private func object(_ value: JSONValue, _ place: RecordPlace) throws(Problem) -> ImportedObject {
        let meta = value.object?["$meta"]?.object
        guard let name = meta?["class"]?.string ?? className else {
            throw malformed(
                "the line does not name the class of its object; the parameter 'class' names it, on the command line --class",
                place.line)
        }
        guard className == nil || className == name else {
            throw malformed("the class of the object is '\(name)', and 'class' names another one", place.line)
        }
        return ImportedObject(place: place, className: name, key: meta?["key"]?.string, body: ObjectBodies.read(value))
    }
}
