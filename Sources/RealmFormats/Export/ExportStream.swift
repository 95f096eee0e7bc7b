// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Writes the contents of one version as NDJSON, JSON or CSV, chunk by chunk.
///
/// NDJSON has a header line with the schema, one line for each object, and a trailer line with their number, so a truncated
/// export is noticed. Links are written as stubs, so cycles end and everything can be imported again.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it; the
/// lock of the worker queue orders their accesses.
package final class ExportStream: ChunkProducer, @unchecked Sendable {
    /// The objects, with the version that they belong to.
    private let rows: StreamRows
    private let format: ExportFormat
    /// The schema document of the version, as JSON.
    private let schema: String
    /// The text of the version token, for the header of the export.
    private let version: String
    /// Whether the export may lack parts of the version, which it states.
    private let isPartial: Bool
    /// The representation of objects.
    private let representation: Representation
    /// The threads that help to write the objects.
    var helpers = ScanHelpers.shared
    /// The separator of cells in CSV for a spreadsheet; nil for CSV that can be imported.
    private var separator: UInt8?
    /// The objects as they are written, made with the first chunk.
    private lazy var lines = makeLines()
    /// The index of the part that is being written; -1 before the first.
    private var part = -1
    /// Whether the header was written.
    private var hasBegun = false
    /// The number of objects written so far, for the trailer, and of those in the present part.
    private var count = 0
    private var countInPart = 0

    /// Exports some objects.
    ///
    /// - Parameters:
    ///   - rows: The objects. For CSV they are of one class.
    ///   - version: The text of the version token, for the header.
    ///   - format: NDJSON, JSON or CSV.
    ///   - isPartial: Whether the version may have more objects, classes or properties than `rows` show.
    ///   - representation: The representation of objects; an export that is to be imported again has the default.
    package init(
        _ rows: StreamRows, version: String, format: ExportFormat, isPartial: Bool = false,
        representation: Representation = Representation()
    ) {
        self.rows = rows
        self.isPartial = isPartial
        self.representation = representation
        self.version = version
        self.format = format
        schema = SchemaDocument.document(RealmSchema(rows.snapshot)).json
    }

    /// Writes CSV for a spreadsheet: cells that it would take as formulas get an apostrophe, the text begins with a byte order
    /// mark, and another separator is between cells if there is one. Such an export does not import to the same values.
    ///
    /// - Parameter separator: The separator of cells: the semicolon where numbers have a comma.
    package func fitSpreadsheets(separator: UInt8) { self.separator = separator }

    /// The form of the objects.
    private var form: ExportLines.Form {
        ExportLines.Form(format: format, separator: separator, representation: representation)
    }

    private func makeLines() -> LineStream {
        let (plans, snapshot, form) = (rows.parts.map(\.plan), rows.snapshot, form)
        return LineStream(rows, helpers: helpers) { budget in ExportLines(plans, snapshot, form, budget: budget) }
    }

    // MARK: - Chunks

    /// Writes the next objects into a buffer until the chunk is full. Each call has its own
    /// deadline, however long the export takes in all.
    ///
    /// - Returns: Whether the export is complete.
    /// - Throws: An error of storage, or that the budget of an object is used up. The response is
    ///   then cut off without its end.
    package func produce(into buffer: OutputBuffer) throws -> Bool {
        rows.beginChunk()
        if !hasBegun {
            hasBegun = true
            begin(buffer)
        }
        while buffer.count < Streaming.chunkBytes {
            switch try lines.next() {
            case .lines(let lines):
                beginParts(upTo: lines.part, buffer)
                add(lines, to: buffer)
            case .later: return false
            case .end:
                beginParts(upTo: rows.parts.count - 1, buffer)
                end(buffer)
                return true
            }
        }
        return false
    }

    /// Writes the beginning: the header line, the line of names, or the beginning of the document.
    private func begin(_ buffer: OutputBuffer) {
        switch format {
        case .csv:
            if let plan = rows.parts.first?.plan {
                ExportLines.csv(plan, rows.snapshot, form, budget: rows.budget).writeHeader(to: buffer)
            }
        case .json:
            buffer.append("{\"version\":" as StaticString)
            buffer.append(jsonString: version)
            if isPartial { buffer.append(",\"partial\":true" as StaticString) }
            buffer.append(",\"schema\":" as StaticString)
            buffer.append(schema)
            buffer.append(",\"objects\":{" as StaticString)
        default:
            buffer.append("{\"$begin\":{\"format\":1,\"schema\":" as StaticString)
            buffer.append(schema)
            buffer.append(",\"version\":" as StaticString)
            buffer.append(jsonString: version)
            if isPartial { buffer.append(",\"partial\":true" as StaticString) }
            buffer.append("}}\n" as StaticString)
        }
    }

    /// Ends the present class and begins later ones, whose names only the JSON document has.
    private func beginParts(upTo last: Int, _ buffer: OutputBuffer) {
        while part < last {
            if format == .json {
                if part >= 0 { buffer.append("]," as StaticString) }
                buffer.append(jsonString: rows.parts[part + 1].table.className ?? "")
                buffer.append(":[" as StaticString)
            }
            part += 1
            countInPart = 0
        }
    }

    /// Writes the end: the trailer line, or the end of the document.
    private func end(_ buffer: OutputBuffer) {
        switch format {
        case .csv: break
        case .json:
            if part >= 0 { buffer.append(UInt8(ascii: "]")) }
            buffer.append("}}" as StaticString)
        default:
            buffer.append("{\"$end\":{\"objects\":" as StaticString)
            buffer.append(decimal: Int64(count))
            buffer.append("}}\n" as StaticString)
        }
    }

    /// Adds the lines of some objects.
    private func add(_ lines: BatchLines, to buffer: OutputBuffer) {
        guard lines.count > 0 else { return }
        // In the JSON document each object follows a comma, but the first of its class.
        buffer.append(lines.bytes, from: format == .json && countInPart == 0 ? 1 : 0)
        count += lines.count
        countInPart += lines.count
    }
}

extension ChunkProducer {
    /// Calls `body` with the bytes of one chunk after the other, of a long one in pieces, until the end. It is used by tools on
    /// the command line and by tests.
    package func forEachChunk(_ body: ([UInt8]) throws -> Void) throws {
        while true {
            let buffer = OutputBuffer(capacity: Streaming.chunkBytes)
            let isLast = try produce(into: buffer)
            try buffer.forEachPiece(body)
            if isLast { return }
        }
    }
}
