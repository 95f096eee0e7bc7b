// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
package import RealmStorage

/// Writes the contents of one version for an export, chunk by chunk.
///
/// NDJSON has a header line with the schema, one line for each object, and a trailer line with
/// their number, so a truncated export is noticed. Links are written as stubs, so cycles end and
/// everything can be imported again. The stream holds its snapshot, and thereby the version, as
/// long as it lives.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it; the
/// lock of the worker queue orders their accesses.
package final class ExportStream: ChunkProducer, @unchecked Sendable {
    /// The form of an export. The raw value is its name in requests and its file extension.
    package enum Format: String, Sendable, CaseIterable { case ndjson, json, csv }

    /// The objects of one class that are exported.
    private struct Part {
        /// The class whose objects are exported.
        let table: Table
        /// How objects of the class are written.
        let plan: ObjectPlan
        /// Where the objects come from, and in which order.
        let source: RowStream.Source
    }

    /// The form of the export: NDJSON, JSON or CSV.
    private let format: Format
    /// The version that is exported.
    private let snapshot: Snapshot
    /// The schema document of the version, as JSON.
    private let schema: String
    /// The text of the version token, for the header of the export.
    private let version: String
    /// Writes objects as JSON.
    private let encoder: ObjectEncoder
    /// Writes objects as CSV; nil for the other formats.
    private let csv: CSVWriter?
    /// The time that each chunk may take.
    private let pace: StreamPace
    /// What each object may cost.
    private let budget: WorkBudget
    /// A leaf of objects, with the rows that are not written yet; nil between two leaves.
    private var open: (leaf: ClusterLeaf, rows: Mask)?
    /// The classes that are exported, in the order of the schema.
    private let parts: [Part]
    /// The index of the part that is being written.
    private var part = 0
    /// The index of the next key in the present part. Parts that are read by a cursor do not use
    /// it.
    private var position = 0
    /// Whether the beginning of the present part was written.
    private var isInPart = false
    /// Whether the header was written.
    private var hasBegun = false
    /// The number of objects written so far, for the trailer.
    private var count = 0

    /// Exports all objects of a version. Embedded objects appear inside their owners.
    ///
    /// - Parameters:
    ///   - snapshot: The version to export.
    ///   - version: The text of its version token, for the header.
    ///   - format: NDJSON or JSON; CSV has room for one class only.
    ///   - budget: The work that may be done, and its deadline.
    ///   - limits: The bounds of the server. Tools on the command line have none.
    /// - Throws: The problem of a damaged file, or of a budget that is used up.
    package static func all(
        of snapshot: Snapshot, version: String, format: Format = .ndjson, budget: WorkBudget = WorkBudget(),
        limits: Limits = .boundless
    ) throws(Problem) -> ExportStream {
        var parts: [Part] = []
        let embedded = EmbeddedPlans(snapshot)
        for table in snapshot.classes where table.kind != .embedded {
            try Problem.mapping { () throws(StorageError) in try budget.spend(table.columns.count) }
            parts.append(try part(.all, of: table, arguments: [], in: snapshot, embedded: embedded, budget: budget))
        }
        return ExportStream(parts, of: snapshot, version: version, format: format, budget: budget, limits: limits)
    }

    /// Exports the objects of one class that match a query.
    ///
    /// - Parameters:
    ///   - query: The parsed predicate.
    ///   - table: The class.
    ///   - arguments: The values for `$0`, `$1` and so on.
    ///   - snapshot: The version to export.
    ///   - version: The text of its version token.
    ///   - format: The form of the export.
    ///   - budget: The work that may be done, and its deadline. A result in another order than that
    ///     of the object keys is computed here, within it.
    ///   - limits: The bounds of the server.
    /// - Throws: The problem of a query that cannot be bound, or of a budget that is used up.
    static func some(
        _ query: Query, of table: Table, arguments: [QueryArgument], in snapshot: Snapshot, version: String,
        format: Format, budget: WorkBudget, limits: Limits
    ) throws(Problem) -> ExportStream {
        let part = try part(
            query, of: table, arguments: arguments, in: snapshot, embedded: EmbeddedPlans(snapshot), budget: budget)
        return ExportStream([part], of: snapshot, version: version, format: format, budget: budget, limits: limits)
    }

    /// Prepares the objects of one class that match a query.
    ///
    /// Results in the order of the object keys are found while they are written; others are found
    /// here, and only their keys are kept.
    private static func part(
        _ query: Query, of table: Table, arguments: [QueryArgument], in snapshot: Snapshot, embedded: EmbeddedPlans,
        budget: WorkBudget
    ) throws(Problem) -> Part {
        let plan: ObjectPlan
        do throws(ObjectPlanner.UnknownPath) { plan = try ObjectPlanner(snapshot, embedded: embedded).plan(table) } catch {
            throw Problem(error)
        }
        let source = try Problem.querying { () throws(QueryError) -> RowStream.Source in
            let bound = try query.bind(to: table, in: snapshot, arguments: arguments)
            if let cursor = try bound.cursor() { return .cursor(cursor) }
            return .keys(try bound.execute(check: { budget.goesOn }))
        }
        return Part(table: table, plan: plan, source: source)
    }

    /// Creates a stream of the given parts, which are written in their order.
    private init(
        _ parts: [Part], of snapshot: Snapshot, version: String, format: Format, budget: WorkBudget, limits: Limits
    ) {
        self.budget = budget
        self.snapshot = snapshot
        self.version = version
        self.format = format
        self.parts = parts
        schema = SchemaDocument.document(RealmSchema(snapshot)).json
        encoder = ObjectEncoder(snapshot, Representation(), budget)
        csv = format == .csv ? parts.first.map { CSVWriter($0.plan, snapshot, Representation(), budget: budget) } : nil
        pace = StreamPace(budget, limits)
    }

    /// Prefixes CSV cells that a spreadsheet would take as formulas with an apostrophe
    /// (`csv=excel`). Such an export does not import to the same values.
    func guardFormulas() { csv?.guardFormulas() }

    /// The value of the header field `Content-Type` for the export.
    var mediaType: StaticString {
        switch format {
        case .ndjson: return "application/x-ndjson"
        case .json: return "application/json"
        case .csv: return RowLines.mediaType(isCSV: true)
        }
    }

    // MARK: - Chunks

    /// Writes the next objects into a buffer until the chunk is full. Each call has its own
    /// deadline, however long the export takes in all.
    ///
    /// - Returns: Whether the export is complete.
    /// - Throws: An error of storage, or that the budget of an object is used up. The response is
    ///   then cut off without its end.
    package func produce(into buffer: OutputBuffer) throws -> Bool {
        pace.beginChunk()
        if !hasBegun {
            hasBegun = true
            begin(buffer)
        }
        while part < parts.count {
            guard buffer.count < Streaming.chunkBytes else { return false }
            if !isInPart {
                isInPart = true
                position = 0
                beginPart(buffer)
            }
            switch try produce(parts[part], into: buffer) {
            case .more: continue
            case .later: return false
            case .end: break
            }
            if format == .json { buffer.append(UInt8(ascii: "]")) }
            isInPart = false
            part += 1
        }
        end(buffer)
        return true
    }

    /// Writes what precedes the first object: the header line, the line of names, or the beginning
    /// of the document.
    private func begin(_ buffer: OutputBuffer) {
        switch format {
        case .csv: csv?.writeHeader(to: buffer)
        case .ndjson:
            buffer.append("{\"$begin\":{\"format\":1,\"schema\":" as StaticString)
            buffer.append(schema)
            buffer.append(",\"version\":" as StaticString)
            buffer.append(jsonString: version)
            buffer.append("}}\n" as StaticString)
        case .json:
            buffer.append("{\"version\":" as StaticString)
            buffer.append(jsonString: version)
            buffer.append(",\"schema\":" as StaticString)
            buffer.append(schema)
            buffer.append(",\"objects\":{" as StaticString)
        }
    }

    /// Writes the name of a class, which only the JSON document has.
    private func beginPart(_ buffer: OutputBuffer) {
        guard format == .json else { return }
        if part > 0 { buffer.append(UInt8(ascii: ",")) }
        buffer.append(jsonString: parts[part].table.className ?? "")
        buffer.append(":[" as StaticString)
    }

    /// Writes what follows the last object: the trailer line, or the end of the document.
    private func end(_ buffer: OutputBuffer) {
        switch format {
        case .csv: break
        case .ndjson:
            buffer.append("{\"$end\":{\"objects\":" as StaticString)
            buffer.append(decimal: Int64(count))
            buffer.append("}}\n" as StaticString)
        case .json: buffer.append("}}" as StaticString)
        }
    }

    /// How writing a part goes on: there are more objects now, the search needs another chunk's
    /// time, or the part is done.
    private enum Progress { case more, later, end }

    /// Writes the next object of a part, or opens the next leaf of it.
    private func produce(_ part: Part, into buffer: OutputBuffer) throws -> Progress {
        switch part.source {
        case .cursor(let cursor): return try produce(from: cursor, part, into: buffer)
        case .keys(let keys):
            guard position < keys.count else { return .end }
            if let row = try part.table.find(keys[position]) { try write(row, part, buffer) }
            position += 1
            return .more
        }
    }

    /// Writes the next object that a cursor finds.
    private func produce(from cursor: MatchCursor, _ part: Part, into buffer: OutputBuffer) throws -> Progress {
        guard let (leaf, rest) = open else {
            switch try pace.next(cursor) {
            case .leaf(let leaf, let matches): open = (leaf, matches)
            case .later: return .later
            case .end: return .end
            }
            return .more
        }
        guard let row = rest.first else {
            open = nil
            return .more
        }
        open?.rows[row] = false
        try write(Row(leaf: leaf, index: row), part, buffer)
        return .more
    }

    /// Writes one object in the form of the export. The budget for one object begins anew with
    /// each.
    private func write(_ row: Row, _ part: Part, _ buffer: OutputBuffer) throws(StorageError) {
        budget.beginPart(at: buffer.count)
        if let csv { return try csv.write(row, to: buffer) }
        if format == .json, position > 0 || count(in: part) > 0 { buffer.append(UInt8(ascii: ",")) }
        var writer = JSONWriter(buffer)
        try encoder.write(row, part.plan, to: &writer)
        if format == .ndjson { buffer.append(UInt8(ascii: "\n")) }
        count += 1
        countInPart += 1
    }

    /// The number of objects written in the part `countedPart`, for the commas of JSON.
    private var countInPart = 0
    /// The index of the part that `countInPart` belongs to.
    private var countedPart = -1

    /// The number of objects written in the present part.
    private func count(in part: Part) -> Int {
        if countedPart != self.part {
            countedPart = self.part
            countInPart = 0
        }
        return countInPart
    }
}

/// Exports that do not go to an HTTP client.
extension ExportStream {
    /// Calls `body` with the bytes of one chunk after the other, until the export is complete. It
    /// is used by tools on the command line and by tests.
    package func forEachChunk(_ body: ([UInt8]) throws -> Void) throws {
        while true {
            let buffer = OutputBuffer(capacity: Streaming.chunkBytes)
            let isLast = try produce(into: buffer)
            try body(buffer.array)
            if isLast { return }
        }
    }
}
