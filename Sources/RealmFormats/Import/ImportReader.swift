// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
package import RealmStorage

/// Reads the objects of an import one by one: an export in NDJSON, lines of objects of one class, or CSV of one class.
///
/// Errors state the line. Input with a header line must have a trailer line, and a trailer line must state the number of objects,
/// so that an export without its end or its beginning is not imported as if it were complete.
package struct ImportReader: Sendable {
    /// The kinds of lines of an import.
    package enum Item: Sendable {
        /// The schema in the header line. It creates the classes of a realm that has none.
        case schema(SchemaInput)
        /// One object of the import, with its values or the error in them.
        case object(ImportedObject)
        /// Objects of one class with plain values, and the places of their records.
        case rows(ObjectRows, [RecordPlace])
        /// Nothing: a long part of the input was blank.
        case blank
    }

    /// The body of the import, from which records can be read again.
    private let source: ImportSource
    /// Cuts the body into lines or records of CSV.
    private var records: RecordReader
    /// Reads single records.
    private var parser: RecordParser
    /// The names of members in the records that this reader has read itself.
    private var names = JSONNames()
    /// Reads records on another thread; nil when they are read on demand. Copies of the reader share it, so only one of them can
    /// continue.
    private var ahead: ReadAhead?
    /// The records that were read ahead and are next.
    private var block = ReadAhead.Parsed()
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
        parser = RecordParser(className: className, bounds: bounds)
        records = RecordReader(source, isArray ? .array : .lines)
        records.skipsBlank = true
    }

    /// Creates a reader of CSV, and reads the first record, which has the names of the properties.
    ///
    /// - Parameters:
    ///   - source: The bytes of the body.
    ///   - table: The class of the objects.
    ///   - snapshot: The version that the class belongs to.
    ///   - bounds: The bounds of JSON in cells.
    ///   - options: The mapping of names of columns to properties.
    /// - Throws: `invalid_body` for a body without a first record, or a malformed one.
    package init(
        csv source: ImportSource, _ table: Table, _ snapshot: Snapshot, bounds: JSONBounds,
        options: ImportOptions = ImportOptions()
    ) throws(Problem) {
        self.source = source
        parser = RecordParser(className: table.className, bounds: bounds)
        let separator = if let stated = options.separator { stated } else { try CSVSeparator.sniff(source) }
        records = RecordReader(source, .csv, separator: separator)
        var first = try records.next()
        // Excel reads the separator of cells from such a line.
        if let line = first?.bytes, line.elementsEqual(Array("sep=".utf8) + [separator]) { first = try records.next() }
        guard let header = first else {
            throw Problem(.invalidBody, "the body needs a first line with the names of the properties")
        }
        parser.csv = try CSVObjects(
            table, snapshot, bounds: bounds, header: header.bytes, line: header.place.line, options: options,
            separator: separator)
        records.skipsBlank = parser.csv?.skipsBlank ?? false
    }

    /// The names of the tables of a database that are not among the lines.
    package var tablesNotRead: [String] = []

    /// The columns of CSV that are ignored.
    package var ignored: IgnoredMembers { parser.csv?.ignored ?? IgnoredMembers() }

    /// Returns the next item, or nil when the input is complete. Blank lines are skipped.
    ///
    /// - Parameter limit: The number of objects that the item has at most.
    /// - Throws: `invalid_json`, `invalid_body` or `body_too_large` with `line`; `invalid_body` without `line` at the end of a
    ///   truncated export. An invalid value is not an error here: it is kept in the object.
    package mutating func next(atMost limit: Int) throws(Problem) -> Item? {
        while let part = try nextRecords(limit) {
            switch part {
            case .rows(let rows, let places):
                if end != nil, let first = places.first { throw afterTrailer(first.line) }
                count += places.count
                return .rows(rows, places)
            case .record(let record): if let item = try item(record) { return item }
            case .none: return .blank
            }
        }
        // A trailer counts also where the beginning of the export was lost, and with it the header.
        guard end.map({ $0 == count }) ?? !hasHeader else {
            throw Problem(.invalidBody, "the export is truncated: its trailer is missing, or states another number of objects")
        }
        return nil
    }

    /// Reads the rest of a long body on another thread, ahead of `next`. Only this reader, or one copy of it, may be used from
    /// then on.
    ///
    /// - Parameter shapes: Returns the classes whose objects can be read as rows: that with the name, or all.
    package mutating func readAhead(_ shapes: (String?) throws(Problem) -> [RowShape]) throws(Problem) {
        guard ahead == nil, source.byteCount >= ReadAhead.leastByteCount else { return }
        // A header comes first, and makes the classes.
        guard parser.className != nil || hasBegun else { return }
        ahead = ReadAhead.start(records, parser, parser.csv == nil ? try shapes(parser.className) : [])
    }

    /// Whether a record was read.
    private var hasBegun: Bool { count > 0 || hasHeader }

    /// Reads no more objects as rows, as they have to be written one by one.
    package func endRows() { ahead?.endRows() }

    /// Reads an object a second time, from the place that an earlier item had.
    ///
    /// - Throws: `internal_error` when the body cannot be read.
    package func object(at place: RecordPlace) throws(Problem) -> ImportedObject {
        try parser.object(try source.read(at: place.offset, byteCount: place.byteCount), place)
    }

    /// Goes to the record of an object that was read before, after which nothing counts as read.
    ///
    /// - Parameter place: Its place; only a reader that was read ahead has to move there.
    package mutating func restart(at place: RecordPlace) {
        guard ahead != nil else { return }
        ahead = nil
        block = ReadAhead.Parsed()
        records.move(to: place)
    }

    /// Returns the number of lines that the objects up to one take up as a whole.
    package func lineCount(upTo last: RecordPlace) -> Int { records.lineCount(upTo: last) }

    /// Returns the next record that is not blank, or several rows; nil at the end of the body.
    private mutating func nextRecords(_ limit: Int) throws(Problem) -> RecordPiece.Part? {
        guard let ahead else {
            while let (place, bytes) = try records.next() {
                if let record = try parser.record(bytes, place, &names) { return .record(record) }
            }
            return nil
        }
        while true {
            if let part = block.take(atMost: limit) { return part }
            if let problem = block.problem { throw problem }
            block = ReadAhead.Parsed()
            guard let next = ahead.next() else { return nil }
            block = next
            if next.pieces.isEmpty, next.problem == nil { return RecordPiece.Part.none }
        }
    }

    // MARK: - NDJSON

    /// Returns the meaning of a record at its place in the input; nil for a trailer line.
    private mutating func item(_ record: RecordParser.Record) throws(Problem) -> Item? {
        switch record {
        case .object(let object):
            guard end == nil else { throw afterTrailer(object.line) }
            count += 1
            return .object(object)
        case .frame(let name, let inner, let line):
            guard end == nil else { throw afterTrailer(line) }
            guard name == "$begin" else {
                end = try objectCount(inner, line)
                return nil
            }
            guard !hasHeader, count == 0 else { throw RecordParser.malformed("a header must be the first line", line) }
            hasHeader = true
            return .schema(try schema(inner, line))
        }
    }

    /// Makes the problem of a line behind the trailer.
    private func afterTrailer(_ line: Int) -> Problem {
        RecordParser.malformed("the trailer is followed by another line", line)
    }

    /// Returns the number of objects that a trailer line states.
    private func objectCount(_ value: JSONValue, _ line: Int) throws(Problem) -> Int {
        guard case .integer(let count)? = value.object?["objects"], count >= 0 else {
            throw RecordParser.malformed("the trailer must state the number of objects", line)
        }
        return Int(count)
    }

    /// Returns the schema of a header line, whose format has to be 1.
    private func schema(_ value: JSONValue, _ line: Int) throws(Problem) -> SchemaInput {
        guard let object = value.object, object["format"] == .integer(1), let schema = object["schema"] else {
            throw RecordParser.malformed("the header needs 'format' 1 and a 'schema'", line)
        }
        return try SchemaReader(place: InputPlace(pointer: "/$begin/schema", line: line)).schema(schema)
    }
}

/// Detects the separator of the cells of CSV.
private enum CSVSeparator {
    /// The bytes of the input that are examined.
    private static let byteCount = 64 << 10

    /// Returns the separator that the first line has most of outside of quotes; a comma when it has none.
    ///
    /// Programs write semicolons where numbers have decimal commas.
    ///
    /// - Parameter source: The input.
    static func sniff(_ source: ImportSource) throws(Problem) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in try source.read(at: 0, byteCount: byteCount) {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted else { continue }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
            if [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")].contains(byte) { counts[byte, default: 0] += 1 }
        }
        let most = counts.values.max() ?? 0
        return [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")].first { counts[$0] == most } ?? UInt8(ascii: ",")
    }
}

/// One object of an import, read but not written.
package struct ImportedObject: Sendable {
    /// The place of its record in the input, from which it can be read again.
    package let place: RecordPlace
    /// The name of the class that the object belongs to.
    package let className: String
    /// The text of the key that it had where it comes from; nil when the input does not state one.
    package let key: String?
    /// The values of the object, or the error in them, which is reported when it is written.
    package var body: InputReader.Reading

    /// The line in which its record begins, from 1.
    package var line: Int { place.line }
}

/// The place of one record of an import in the body.
package struct RecordPlace: Sendable {
    /// The line in which the record begins, counted from 1.
    package let line: Int
    /// The number of characters of that line before it, as before an element of an array.
    var column = 0
    /// The position of its first byte in the body.
    let offset: Int
    /// Its length in bytes, without the line end.
    package let byteCount: Int
}
