// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// One list request: a page, positions, an index, sections, a plan, or a stream of rows.
///
/// `@unchecked Sendable`: one thread at a time works on a request. The daemon's thread begins, and hands the list to a worker
/// through the lock of the queue; what is bound by then is not bound again.
final class ObjectList: @unchecked Sendable {
    let context: ReadContext
    let parameters: ReadParameters
    let table: Table
    let etag: String
    /// The query and its arguments, once they are known.
    private var bound: ObjectQuery?
    private var decoded: [QueryArgument]?

    init(context: ReadContext, parameters: ReadParameters, table: Table, etag: String) {
        self.context = context
        self.parameters = parameters
        self.table = table
        self.etag = etag
    }

    /// Objects that a daemon's thread may look at before it has to hand over.
    private static let shortScan = 2000
    private static let shortPage = 200

    /// Whether the answer is made in well under a millisecond.
    var isShort: Bool {
        guard isShortPage else { return false }
        if table.count <= ObjectList.shortScan { return true }
        return parameters.predicate == nil && isPlain && (parameters.offset ?? 0) <= ObjectList.shortScan
    }

    private var isShortPage: Bool {
        !streamsAll && parameters.expand.isEmpty && (parameters.limit ?? ReadParameters.defaultLimit) <= ObjectList.shortPage
    }

    /// A page of what `where` says, in object order.
    private var isPlain: Bool {
        parameters.sort.isEmpty && parameters.distinct.isEmpty && parameters.sectionBy == nil && parameters.at == nil
            && parameters.indexOf == nil && parameters.indexOfWhere == nil && !parameters.explain
    }

    /// A short page whose rows an index tells, without going to a worker; nil for all others.
    func answerFromIndex() throws(Problem) -> Response? {
        guard !isShort, isShortPage, isPlain, parameters.predicate != nil else { return nil }
        let query = try query()
        guard let count = try query.indexedCount(), min(count, parameters.offset ?? 0) <= ObjectList.shortScan else {
            return nil
        }
        return try page(query)
    }

    /// The values of `args`, decoded once.
    func arguments() throws(Problem) -> [QueryArgument] {
        if let decoded { return decoded }
        let arguments = try ArgumentDecoder(context.snapshot).decode(parameters.args)
        decoded = arguments
        return arguments
    }

    /// The query of the request, parsed and bound once. `sort` replaces that of the parameters and is the same in each call.
    func query(sort: [ReadParameters.SortTerm]? = nil) throws(Problem) -> ObjectQuery {
        if let bound { return bound }
        let query = try ObjectQuery(parameters, try arguments(), of: table, context, sort: sort)
        bound = query
        return query
    }

    /// NDJSON and CSV without a limit have all rows.
    private var streamsAll: Bool { parameters.isTabular && parameters.limit == nil && parameters.at == nil }

    func answer() throws(Problem) -> Response {
        if parameters.sectionBy != nil { return try SectionedList(list: self).answer() }
        let query = try query()
        if parameters.explain { return try plan(query) }
        if parameters.indexOf != nil || parameters.indexOfWhere != nil { return try index(query) }
        if let positions = parameters.at { return try objects(at: positions, query) }
        return streamsAll ? try stream(query) : try page(query)
    }

    // MARK: - Pages

    private func page(_ query: ObjectQuery) throws(Problem) -> Response {
        let limit = parameters.limit ?? ReadParameters.defaultLimit
        let after = try parameters.after.map { text throws(Problem) in try PageCursor(text, identity: identity).position }
        // One more than asked for tells whether there is another page.
        let window = ResultWindow(offset: parameters.offset ?? 0, limit: limit + 1, after: after)
        let found = limit == 0 && !parameters.countsExactly ? .none : try query.page(window)
        let count = parameters.countsExactly ? try query.count() : nil
        let rows = found.prefix(limit)
        return try answer(rows: rows, count: count) { [self] progress throws(Problem) in
            if query.ordersItself, progress.written < rows.count { return nil }
            guard progress.written < found.count, let last = progress.last else { return nil }
            return PageCursor(try query.position(of: last)).text(identity: identity)
        }
    }

    private var identity: UInt64 {
        // QUERY and POST to `query` are one operation and share cursors.
        parameters.identity(of: "\(table.className ?? "")/\(context.database.name.text)")
    }

    /// The cursor of what follows the rows that are written; nil when nothing does.
    typealias Cursor = (PageRows.Progress) throws(Problem) -> String?

    /// An envelope, or lines, with these objects. Where `next` leads on the page may end early, elsewhere it may not.
    private func answer(
        rows: PageRows, count: Int?, next: Cursor?
    ) throws(Problem) -> Response {
        let plan = try context.plan(table, parameters)
        let made =
            parameters.isTabular
            ? try lines(rows, plan, next) : try envelope(rows, plan, next, count: count)
        var response = made.response
        context.addPageHeaders(to: &response, next: made.next, count: count)
        return response
    }

    private typealias Made = (response: Response, next: String?)

    private func envelope(
        _ rows: PageRows, _ plan: ObjectPlan, _ cursor: Cursor?, count: Int?
    ) throws(Problem) -> Made {
        let encoder = ObjectEncoder(context.snapshot, parameters.representation, context.request.budget)
        var writer = JSONWriter(reservingCapacity: 1024 + min(rows.count, 4096) * 256)
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        let progress = try write(rows, plan, encoder, to: &writer)
        let next = try self.next(after: progress, of: rows.count, cursor)
        writer.endArray()
        writer.member("next", text: next)
        if let count {
            writer.key("count")
            writer.integer(count, parameters.representation)
        }
        context.writeVersion(to: &writer)
        writer.endObject()
        let response = context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: encoder.notes)
        return (response, next)
    }

    /// The cursor of the next page. A page that ended early needs one, and at least one row.
    func next(after progress: PageRows.Progress, of count: Int, _ cursor: Cursor?) throws(Problem) -> String? {
        guard progress.written < count else { return try cursor?(progress) }
        guard progress.written > 0, let next = try cursor?(progress) else {
            throw Problem(context.request.budget.stop ?? .expired)
        }
        return next
    }

    /// Writes objects one after the other until the answer is full; returns how far it came.
    func write(
        _ rows: PageRows, _ plan: ObjectPlan, _ encoder: ObjectEncoder, to writer: inout JSONWriter
    ) throws(Problem) -> PageRows.Progress {
        let begin = context.request.timing.map { _ in Instant.now() }
        let progress = try Problem.mapping { () throws(StorageError) in
            try rows.write(of: table) { row throws(StorageError) in
                try encoder.fits(&writer) { writer throws(StorageError) in try encoder.write(row, plan, to: &writer) }
            }
        }
        if let begin { context.request.timing?.encode += Instant.now().seconds(since: begin) }
        return progress
    }

    private func lines(_ rows: PageRows, _ plan: ObjectPlan, _ cursor: Cursor?) throws(Problem) -> Made {
        let lines = RowLines(plan, context.snapshot, parameters, context.request.budget)
        let buffer = OutputBuffer(capacity: 1024 + min(rows.count, 4096) * 256)
        lines.begin(in: buffer)
        let progress = try Problem.mapping { () throws(StorageError) in
            try rows.write(of: table) { row throws(StorageError) in try lines.fits(row, in: buffer) }
        }
        let next = try self.next(after: progress, of: rows.count, cursor)
        return (context.answer(buffer, type: lines.mediaType, etag: etag, notes: lines.notes), next)
    }

    private func stream(_ query: ObjectQuery) throws(Problem) -> Response {
        let plan = try context.plan(table, parameters)
        let after = try parameters.after.map { text throws(Problem) in try PageCursor(text, identity: identity).position }
        let window = ResultWindow(offset: parameters.offset ?? 0, after: after)
        let source: RowStream.Source
        if let cursor = try query.cursor(window) {
            source = .cursor(cursor)
        } else {
            source = .keys(try query.keys(window))
        }
        let rows = RowLines(plan, context.snapshot, parameters, context.request.budget)
        var response = Response(status: 200)
        response.add("Content-Type", constant: rows.mediaType)
        context.addReadHeaders(to: &response, etag: etag)
        if parameters.countsExactly { response.add("Realm-Count", String(try query.count())) }
        response.body = .stream(RowStream(source, rows, table, StreamPace(context.request.budget, context.limits)))
        return response
    }

    // MARK: - Positions

    private func objects(at positions: [Int], _ query: ObjectQuery) throws(Problem) -> Response {
        // Positions from the end need the whole result.
        let isFromStart = positions.allSatisfy { $0 >= 0 }
        let last = positions.max() ?? -1
        let keys = try query.keys(isFromStart ? ResultWindow(limit: last == .max ? last : last + 1) : .all)
        var chosen: [ObjectKey] = []
        for position in positions {
            let index = position < 0 ? keys.count + position : position
            guard keys.indices.contains(index) else {
                throw .invalidParameter("at", "the result has no object at position \(position)")
            }
            chosen.append(keys[index])
        }
        return try answer(rows: PageRows(keys: chosen[...]), count: parameters.countsExactly ? try query.count() : nil, next: nil)
    }

    private func index(_ query: ObjectQuery) throws(Problem) -> Response {
        try requireDocument()
        var index: Int?
        if let text = parameters.indexOf {
            let row = try Problem.mapping { () throws(StorageError) in try KeyText.find(text, in: table) }
            if let row { index = try query.keys().firstIndex(of: row.key) }
        } else {
            index = try firstIndex(query)
        }
        return document { writer in
            writer.key("index")
            if let index { writer.integer(index, parameters.representation) } else { writer.null() }
        }
    }

    /// The position of the first object of the result that fulfils `indexOfWhere`.
    private func firstIndex(_ query: ObjectQuery) throws(Problem) -> Int? {
        let text = try ObjectQuery.parse(parameters.indexOfWhere, "indexOfWhere")
        guard !text.hasDescriptors else {
            throw .conflict("'indexOfWhere' is a predicate only", parameter: "indexOfWhere")
        }
        let arguments = try arguments()
        let budget = context.request.budget
        let check: BoundQuery.Check = { budget.goesOn }
        let condition = try ObjectQuery.querying("indexOfWhere", budget) { () throws(QueryError) in
            try text.bind(
                to: table, in: context.snapshot, arguments: arguments, mapping: context.database.backlinkNames.mapping,
                check: check)
        }
        let finder = ObjectFinder(table)
        for (index, key) in try query.keys().enumerated() {
            if index & 0x3ff == 0x3ff { try context.request.checkDeadline() }
            guard let row = try Problem.mapping({ () throws(StorageError) in try finder.find(key) }) else { continue }
            let isMatch = try ObjectQuery.querying("indexOfWhere", budget) { () throws(QueryError) in
                try condition.matches(row, check: check)
            }
            if isMatch { return index }
        }
        return nil
    }

    // MARK: - Documents

    private func plan(_ query: ObjectQuery) throws(Problem) -> Response {
        try requireDocument()
        let lines = try query.plan()
        return document { writer in
            writer.key("plan")
            writer.beginArray()
            for line in lines { writer.string(line) }
            writer.endArray()
            context.writeVersion(to: &writer)
        }
    }

    /// Answers that are no rows have no form as lines.
    func requireDocument() throws(Problem) {
        guard !parameters.isTabular else {
            throw Problem(.notAcceptable, "this answer is a document, not a list of rows")
        }
    }

    func document(_ write: (inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return context.answer(writer.buffer, type: parameters.representation.mediaType, etag: etag)
    }
}
