// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
package import RealmStorage

/// The contents of one version on their way out.
///
/// NDJSON has a header line with the schema, one object a line, and a trailer with their number: what was cut is
/// noticed. Links are stubs, so that cycles end and everything can be read in again.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and each is made by one worker.
package final class ExportStream: ChunkProducer, @unchecked Sendable {
    /// The form of an export, by its name in requests and its file extension.
    package enum Format: String, Sendable { case ndjson, json, csv }

    /// The objects of one class that are wanted.
    private struct Part {
        let table: Table
        let plan: ObjectPlan
        let source: RowStream.Source
    }

    private let format: Format
    private let snapshot: Snapshot
    private let schema: String
    private let version: String
    private let encoder: ObjectEncoder
    private let csv: CSVWriter?
    private let pace: StreamPace
    private let budget: WorkBudget
    /// The rows of a leaf that are not written yet.
    private var open: (leaf: ClusterLeaf, rows: Mask)?
    private let parts: [Part]
    private var part = 0
    /// In the keys of the present part.
    private var position = 0
    private var isInPart = false
    private var hasBegun = false
    private var count = 0

    /// Everything there is in `snapshot`; embedded objects stand inside their owners.
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

    /// What of one class matches a query.
    static func some(
        _ query: Query, of table: Table, arguments: [QueryArgument], in snapshot: Snapshot, version: String,
        format: Format, budget: WorkBudget, limits: Limits
    ) throws(Problem) -> ExportStream {
        let part = try part(
            query, of: table, arguments: arguments, in: snapshot, embedded: EmbeddedPlans(snapshot), budget: budget)
        return ExportStream([part], of: snapshot, version: version, format: format, budget: budget, limits: limits)
    }

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

    /// Makes CSV safe to open in a spreadsheet.
    func guardFormulas() { csv?.guardFormulas() }

    /// The value of `Content-Type`.
    var mediaType: StaticString {
        switch format {
        case .ndjson: return "application/x-ndjson"
        case .json: return "application/json"
        case .csv: return RowLines.mediaType(isCSV: true)
        }
    }

    // MARK: - Chunks

    /// Writes the next rows. Each call has time of its own, however long the export is.
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

    private func beginPart(_ buffer: OutputBuffer) {
        guard format == .json else { return }
        if part > 0 { buffer.append(UInt8(ascii: ",")) }
        buffer.append(jsonString: parts[part].table.className ?? "")
        buffer.append(":[" as StaticString)
    }

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

    private enum Progress { case more, later, end }

    /// Some objects of a part.
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

    private var countInPart = 0
    private var countedPart = -1

    private func count(in part: Part) -> Int {
        if countedPart != self.part {
            countedPart = self.part
            countInPart = 0
        }
        return countInPart
    }
}

extension ExportStream {
    /// All of it, piece by piece: for those who are no client.
    package func forEachChunk(_ body: ([UInt8]) throws -> Void) throws {
        while true {
            let buffer = OutputBuffer(capacity: Streaming.chunkBytes)
            let isLast = try produce(into: buffer)
            try body(buffer.array)
            if isLast { return }
        }
    }
}
