// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// Answers one request for the objects of a class: a page, objects at positions, the position of an object, sections, the plan of
/// the query, or a stream of rows.
///
/// `@unchecked Sendable`: one thread at a time works on a request. The daemon's thread begins, and may pass the list to a worker
/// through the lock of the worker queue. The parts bound by then are not bound again.
package final class ObjectList: @unchecked Sendable {
    /// The version that is read, and the request.
    let context: ReadContext
    /// The parameters of the request: query, order, page and representation.
    let parameters: ReadParameters
    let table: Table
    /// The entity tag of the response, in quotes.
    let etag: String
    /// The query, bound to the class; nil until it is first needed.
    private var bound: ObjectQuery?
    /// The arguments of the query; nil until they are first needed.
    private var decoded: [QueryArgument]?

    /// Creates the list of a request. Nothing is parsed or read yet.
    ///
    /// - Parameters:
    ///   - context: The version that is read, and the request.
    ///   - parameters: The parameters of the request.
    ///   - etag: The entity tag of the response.
    package init(context: ReadContext, parameters: ReadParameters, table: Table, etag: String) {
        self.context = context
        self.parameters = parameters
        self.table = table
        self.etag = etag
    }

    /// The number of objects that a daemon's thread may examine for one request.
    private static let shortScan = 2000
    /// The number of rows of a page that a daemon's thread may write.
    private static let shortPage = 200

    /// Whether the response takes well under a millisecond, so that the daemon's thread can make it.
    ///
    /// It is an estimate from the size of the class and the parameters, without running the query.
    package var isShort: Bool {
        guard isShortPage else { return false }
        if table.count <= ObjectList.shortScan { return true }
        return parameters.predicate == nil && isPlain && (parameters.offset ?? 0) <= ObjectList.shortScan
    }

    /// Whether the response is a short page that shows no other objects.
    private var isShortPage: Bool {
        !streamsAll && parameters.expand.isEmpty && (parameters.limit ?? ReadParameters.defaultLimit) <= ObjectList.shortPage
    }

    /// Whether the response is a page in the order of the object keys.
    private var isPlain: Bool {
        parameters.sort.isEmpty && parameters.distinct.isEmpty && parameters.sectionBy == nil && parameters.at == nil
            && parameters.indexOf == nil && parameters.indexOfWhere == nil && !parameters.explain && parameters.facets == nil
    }

    /// Returns a short page whose rows an index finds, made on the daemon's thread; nil when that
    /// is not possible or not needed.
    ///
    /// - Throws: The problems of the query, its arguments and its cursor.
    package func answerFromIndex() throws(Problem) -> Response? {
        guard !isShort, isShortPage, isPlain, parameters.predicate != nil else { return nil }
        let query = try query()
        guard let count = try query.indexedCount(), min(count, parameters.offset ?? 0) <= ObjectList.shortScan else {
            return nil
        }
        return try page(query)
    }

    /// Returns the values of `args`, which are decoded once.
    func arguments() throws(Problem) -> [QueryArgument] {
        if let decoded { return decoded }
        let arguments = try ArgumentDecoder(context.snapshot).decode(parameters.args)
        decoded = arguments
        return arguments
    }

    /// Returns the query of the request, which is parsed and bound once.
    ///
    /// - Parameter sort: An order that replaces that of the parameters. It must be the same in each
    ///   call.
    /// - Throws: The problems of the query and its arguments.
    func query(sort: [ReadParameters.SortTerm]? = nil) throws(Problem) -> ObjectQuery {
        if let bound { return bound }
        let query = try ObjectQuery(parameters, try arguments(), of: table, context, sort: sort)
        bound = query
        return query
    }

    /// Whether all rows are streamed. NDJSON and CSV have all rows when `limit` is absent.
    private var streamsAll: Bool { parameters.isTabular && parameters.limit == nil && parameters.at == nil }

    /// Returns the response that the parameters select.
    ///
    /// It may take long and runs on a worker, except for lists that `isShort` describes.
    package func answer() throws(Problem) -> Response {
        if parameters.sectionBy != nil { return try SectionedList(list: self).answer() }
        let query = try query()
        if parameters.explain { return try plan(query) }
        if parameters.indexOf != nil || parameters.indexOfWhere != nil { return try index(query) }
        if let positions = parameters.at { return try objects(at: positions, query) }
        return streamsAll ? try stream(query) : try page(query)
    }

    // MARK: - Pages

    /// Returns a page of the result.
    ///
    /// One row more than requested is searched for, which shows whether there is a next page.
    private func page(_ query: ObjectQuery) throws(Problem) -> Response {
        let facets = try facets()
        let limit = parameters.limit ?? ReadParameters.defaultLimit
        let after = try parameters.after.map { text throws(Problem) in
            try query.position(of: try PageCursor(text, identity: identity))
        }
        // One row more than requested shows whether there is another page.
        let window = ResultWindow(offset: parameters.offset ?? 0, limit: limit + 1, after: after)
        let found = limit == 0 && !parameters.countsExactly ? .none : try query.page(window)
        let count = parameters.countsExactly ? try query.count() : nil
        let rows = found.prefix(limit)
        return try answer(rows: rows, count: count, facets) { [self] progress throws(Problem) in
            if query.ordersItself, progress.written < rows.count { return nil }
            guard progress.written < found.count, let last = progress.last else { return nil }
            return try query.cursor(behind: last).text(identity: identity)
        }
    }

    /// Returns the counts of `facets` in the whole filtered result; nil for none. The order of the result matters only to
    /// `distinct`.
    private func facets() throws(Problem) -> FacetCounts? {
        try FacetCounts(parameters, of: .objects(table), context) { requests throws(Problem) in
            let unsorted: [ReadParameters.SortTerm]? = parameters.distinct.isEmpty ? [] : nil
            return try ObjectQuery(parameters, try arguments(), of: table, context, sort: unsorted).group(requests, "facets")
        }
    }

    /// The identity that cursors of this request carry. It does not depend on the method, so
    /// cursors of QUERY and of POST to `query` are interchangeable.
    private var identity: UInt64 {
        // QUERY and POST to `query` are one operation and share cursors.
        parameters.identity(of: "\(table.className ?? "")/\(context.database.name.text)", by: context.rightsIdentity)
    }

    /// A function that returns the cursor after the rows written so far; nil at the end, or where no cursor can continue.
    typealias Cursor = (PageRows.Progress) throws(Problem) -> String?

    /// Returns a response with some objects, as an envelope or as lines.
    ///
    /// - Parameters:
    ///   - count: The number of all matches, if it was requested.
    ///   - facets: The facets counted in addition to the page; nil for none.
    ///   - next: Makes the cursor of the next page. With one, the page may end early when the response is full; without one, that
    ///     is a problem.
    private func answer(
        rows: PageRows, count: Int?, _ facets: FacetCounts? = nil, next: Cursor?
    ) throws(Problem) -> Response {
        let plan = try context.plan(table, parameters)
        let made =
            parameters.isTabular
            ? try lines(rows, plan, next) : try envelope(rows, plan, next, count: count, facets)
        var response = made.response
        context.addPageHeaders(to: &response, next: made.next, count: count)
        return response
    }

    /// A response, with the cursor of the next page; nil when there is none.
    private typealias Made = (response: Response, next: String?)

    /// Writes objects as a JSON document: `items`, `next`, perhaps `count`, and the version.
    private func envelope(
        _ rows: PageRows, _ plan: ObjectPlan, _ cursor: Cursor?, count: Int?, _ facets: FacetCounts?
    ) throws(Problem) -> Made {
        let encoder = ObjectEncoder(context.snapshot, parameters.representation, context.call.request.budget)
        var writer = JSONWriter(reservingCapacity: 1024 + min(rows.count, 4096) * 256)
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        let progress = try write(rows, plan, encoder, to: &writer)
        let next = try self.next(after: progress, of: rows.count, cursor)
        writer.endArray()
        try context.endPage(&writer, next, count: count, parameters.representation, facets)
        let response = context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag,
            notes: encoder.notes.union(facets?.notes))
        return (response, next)
    }

    /// Returns the cursor of the next page.
    ///
    /// - Parameters:
    ///   - progress: The number of written rows of the page, and the last one.
    ///   - count: The intended number of rows. If fewer were written, the page ended early.
    ///   - cursor: Makes the cursor; nil where there are no pages.
    /// - Throws: The problem of a full answer when the page ended early before its first row, or no cursor can lead on.
    func next(after progress: PageRows.Progress, of count: Int, _ cursor: Cursor?) throws(Problem) -> String? {
        guard progress.written < count else { return try cursor?(progress) }
        guard progress.written > 0, let next = try cursor?(progress) else {
            throw Problem(context.call.request.budget.stop ?? .expired)
        }
        return next
    }

    /// Writes objects one after the other until the response is full, and returns their number.
    ///
    /// The time it takes is added to `encode` of `Server-Timing`.
    func write(
        _ rows: PageRows, _ plan: ObjectPlan, _ encoder: ObjectEncoder, to writer: inout JSONWriter
    ) throws(Problem) -> PageRows.Progress {
        let begin = context.call.timing.map { _ in Instant.now() }
        let progress = try Problem.stored(
            rows.write(of: table) { row throws(StorageError) in
                try encoder.fits(&writer) { writer throws(StorageError) in try encoder.write(row, plan, to: &writer) }
            })
        if let begin { context.call.timing?.encode += Instant.now().seconds(since: begin) }
        return progress
    }

    /// Writes objects as lines of NDJSON or CSV.
    private func lines(_ rows: PageRows, _ plan: ObjectPlan, _ cursor: Cursor?) throws(Problem) -> Made {
        let lines = RowLines(plan, context.snapshot, parameters, budget: context.call.request.budget)
        let buffer = OutputBuffer(capacity: 1024 + min(rows.count, 4096) * 256)
        lines.begin(in: buffer)
        let progress = try Problem.stored(rows.write(of: table) { row throws(StorageError) in try lines.fits(row, in: buffer) })
        let next = try self.next(after: progress, of: rows.count, cursor)
        return (context.answer(buffer, type: lines.mediaType, etag: etag, notes: lines.notes), next)
    }

    /// Returns a response whose lines are made while it is sent. A result in another order than
    /// that of the object keys is sorted before, and only its keys are kept.
    private func stream(_ query: ObjectQuery) throws(Problem) -> Response {
        let plan = try context.plan(table, parameters)
        let after = try parameters.after.map { text throws(Problem) in
            try query.position(of: try PageCursor(text, identity: identity))
        }
        let window = ResultWindow(offset: parameters.offset ?? 0, after: after)
        let source: RowSource
        if let cursor = try query.cursor(window) {
            source = .cursor(cursor)
        } else {
            source = .keys(try query.keys(window))
        }
        var response = Response(status: 200)
        response.add("Content-Type", constant: (parameters.format == .csv ? ExportFormat.csv : .ndjson).mediaType)
        context.addReadHeaders(to: &response, etag: etag)
        if parameters.countsExactly { response.add("Realm-Count", String(try query.count())) }
        let (snapshot, budget, parameters) = (context.snapshot, context.call.request.budget, parameters)
        let rows = StreamRows(
            StreamRows.Part(table: table, plan: plan, source: source), in: snapshot, budget: budget,
            secondsPerChunk: context.limits.readSeconds)
        let header = RowLines(plan, snapshot, parameters, budget: budget)
        response.body = .stream(
            LineStream(rows, header: { header.begin(in: $0) }) { budget in
                RowLines(plan, snapshot, parameters, budget: budget)
            })
        return response
    }

    // MARK: - Positions

    /// Returns the objects at the positions of `at`. A negative position counts from the end and needs the whole result.
    ///
    /// - Throws: `invalid_parameter` for a position outside the result.
    private func objects(at positions: [Int], _ query: ObjectQuery) throws(Problem) -> Response {
        // Positions from the end need the whole result.
        let isFromStart = positions.allSatisfy { $0 >= 0 }
        let last = positions.max() ?? -1
        let keys = try query.keys(isFromStart ? ResultWindow(limit: last == .max ? last : last + 1) : .all)
        let chosen = try ReadParameters.indexes(of: positions, count: keys.count).map { keys[$0] }
        return try answer(rows: PageRows(keys: chosen[...]), count: parameters.countsExactly ? try query.count() : nil, next: nil)
    }

    /// Returns the position in the result of the object that `indexOf` or `indexOfWhere` names;
    /// null when it is not in the result.
    private func index(_ query: ObjectQuery) throws(Problem) -> Response {
        try parameters.requireDocument()
        var index: Int?
        if let wanted = parameters.indexOf {
            let text = try wanted.keyText(of: table)
            let row = try Problem.stored(KeyText.find(text, in: table))
            if let row { index = try query.keys().firstIndex(of: row.key) }
        } else {
            index = try firstIndex(query)
        }
        return document { writer in
            writer.key("index")
            if let index { writer.integer(index, parameters.representation) } else { writer.null() }
        }
    }

    /// Returns the position of the first object of the result that matches `indexOfWhere`; nil for none.
    ///
    /// - Complexity: O(n) in the result's objects before the match, besides the query.
    private func firstIndex(_ query: ObjectQuery) throws(Problem) -> Int? {
        let text = try ObjectQuery.predicate(parameters.indexOfWhere)
        let arguments = try arguments()
        let budget = context.call.request.budget
        let check: BoundQuery.Check = { budget.continues }
        let condition = try ObjectQuery.querying("indexOfWhere", budget) { () throws(QueryError) in
            try text.bind(
                to: table, in: context.snapshot, arguments: arguments, mapping: context.database.backlinkNames.mapping,
                check: check)
        }
        let finder = ObjectFinder(table)
        for (index, key) in try query.keys().enumerated() {
            if index & 0x3ff == 0x3ff { try context.call.request.checkDeadline() }
            guard let row = try Problem.stored(finder.find(key)) else { continue }
            let isMatch = try ObjectQuery.querying("indexOfWhere", budget) { () throws(QueryError) in
                try condition.matches(row, check: check)
            }
            if isMatch { return index }
        }
        return nil
    }

    // MARK: - Documents

    /// Returns the plan of the query as lines of text, which are for people and may change.
    private func plan(_ query: ObjectQuery) throws(Problem) -> Response {
        try parameters.requireDocument()
        // Syntax borrowed from another language has the meaning of this one, which the plan of a query notes.
        let notes = parameters.predicate.flatMap { try? Query.parse($0) }?.notes ?? []
        let lines = try query.plan() + notes.map { "note: " + $0 }
        return document { writer in
            writer.key("plan")
            writer.beginArray()
            for line in lines { writer.string(line) }
            writer.endArray()
            context.writeVersion(to: &writer)
        }
    }

    /// Returns a response with a JSON object.
    ///
    /// - Parameter write: Writes its members.
    func document(_ write: (inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return context.answer(writer.buffer, type: parameters.representation.mediaType, etag: etag)
    }
}
