// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Answers a request for the elements of a collection: a page, elements at positions, the position of an element, sections, the
/// plan of the query, or lines.
///
/// Its envelope is that of object lists. A cursor is a position in the collection (or in the filtered view of it), because
/// elements have no keys.
package struct CollectionPage {
    /// The version that is read, and the request.
    let context: ReadContext
    /// The parameters of the request: filter, order, page and representation.
    let parameters: ReadParameters
    /// The collection whose elements are returned.
    let target: CollectionTarget

    package init(context: ReadContext, parameters: ReadParameters, target: CollectionTarget) {
        self.context = context
        self.parameters = parameters
        self.target = target
    }

    private var elements: Elements { target.elements }

    /// Returns the response that the parameters select. Lines without a limit are streamed while a worker makes them.
    ///
    /// - Parameter elementWriter: Writes one element. Its notes end up in header fields.
    /// - Throws: `cursor_invalid`, the problems of a filter, and that of a budget that is used up
    ///   before the first element.
    package func answer(_ elementWriter: ElementWriter) throws(Problem) -> Response {
        let etag = context.versionTag(parameters.code)
        if context.call.isCurrent(etag) { return context.unchanged(etag) }
        if parameters.sectionBy != nil { return try SectionedElements(page: self, etag: etag).answer(elementWriter) }
        let view = CollectionView(context: context, parameters: parameters, target: target)
        if parameters.explain { return try plan(view, etag) }
        if parameters.indexOf != nil || parameters.indexOfWhere != nil { return try index(view, etag) }
        let facets = try FacetCounts(parameters, of: elements.subject, context) { requests throws(Problem) in
            try view.group(requests, "facets")
        }
        let positions = try view.positions()
        if let wanted = parameters.at { return try answer(at: wanted, of: positions, elementWriter, etag) }
        return try page(positions, facets, elementWriter, etag: etag)
    }

    /// Returns a page of the selected elements, or all of them as lines.
    private func page(
        _ positions: CollectionView.Positions, _ facets: FacetCounts?, _ elementWriter: ElementWriter, etag: String
    ) throws(Problem) -> Response {
        let start = try firstIndex()
        if parameters.isTabular, parameters.limit == nil { return stream(elementWriter, positions, from: start, etag) }
        let limit = parameters.limit ?? ReadParameters.defaultLimit
        let first = min(start, positions.count)
        let end = limit < positions.count - first ? first + limit : positions.count
        let made =
            parameters.isTabular
            ? try lines(elementWriter, positions, first..<end, etag: etag)
            : try envelope(elementWriter, positions, first..<end, count: positions.count, facets, etag: etag)
        var response = made.response
        context.addPageHeaders(to: &response, next: made.next, count: parameters.countsExactly ? positions.count : nil)
        return response
    }

    /// Returns the elements at the positions of `at`, which is not a page that another can follow.
    private func answer(
        at wanted: [Int], of positions: CollectionView.Positions, _ elementWriter: ElementWriter, _ etag: String
    ) throws(Problem) -> Response {
        let chosen = CollectionView.Positions.chosen(
            try ReadParameters.indexes(of: wanted, count: positions.count).map { positions[$0] })
        let range = 0..<chosen.count
        let made =
            parameters.isTabular
            ? try lines(elementWriter, chosen, range, etag: etag)
            : try envelope(elementWriter, chosen, range, count: positions.count, nil, etag: etag)
        guard made.next == nil else { throw Problem(context.call.request.budget.stop ?? .expired) }
        var response = made.response
        context.addPageHeaders(to: &response, next: nil, count: parameters.countsExactly ? positions.count : nil)
        return response
    }

    /// Returns the position in the result of the element that `indexOf` or `indexOfWhere` names; null
    /// when it is not in the result.
    private func index(_ view: CollectionView, _ etag: String) throws(Problem) -> Response {
        try parameters.requireDocument()
        let named = try parameters.indexOf.map { wanted throws(Problem) in try view.isElement(wanted) }
        let test = if let named { named } else { try view.condition(parameters.indexOfWhere) }
        let positions = try view.positions()
        let values = try view.values()
        var found: Int?
        for index in 0..<positions.count {
            try Problem.stored(context.call.request.budget.spend())
            guard try test(values[positions[index]]) else { continue }
            found = index
            break
        }
        return document(etag) { writer in
            writer.key("index")
            if let found { writer.integer(found, parameters.representation) } else { writer.null() }
        }
    }

    /// Returns the plan of the query as lines of text, which are for people and may change.
    private func plan(_ view: CollectionView, _ etag: String) throws(Problem) -> Response {
        try parameters.requireDocument()
        let lines = try view.plan()
        return document(etag) { writer in
            writer.key("plan")
            writer.beginArray()
            for line in lines { writer.string(line) }
            writer.endArray()
            context.writeVersion(to: &writer)
        }
    }

    /// Returns a response with a JSON object.
    ///
    /// - Parameters:
    ///   - etag: The entity tag of the response.
    ///   - write: Writes its members.
    private func document(_ etag: String, _ write: (inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return context.answer(writer.buffer, type: parameters.representation.mediaType, etag: etag)
    }

    /// A response, with the cursor of the next page; nil when there is none.
    private typealias Made = (response: Response, next: String?)

    /// Writes a page as a JSON document: `items`, `next`, perhaps `count`, and the version. It ends early when the response is
    /// full.
    ///
    /// - Parameters:
    ///   - positions: The elements to choose from.
    ///   - range: The elements of the page among them.
    ///   - count: The number of all selected elements, for `count`.
    ///   - facets: The facets to count in addition to the page; nil for none.
    ///   - etag: The entity tag of the response.
    private func envelope(
        _ elementWriter: ElementWriter, _ positions: CollectionView.Positions, _ range: Range<Int>, count: Int,
        _ facets: FacetCounts?, etag: String
    ) throws(Problem) -> Made {
        var writer = JSONWriter(reservingCapacity: 4096)
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        var end = range.lowerBound
        try Problem.mapping { () throws(StorageError) in
            while end < range.upperBound, try elementWriter.fits(try elements.element(at: positions[end]), in: &writer) {
                end += 1
            }
        }
        let next = try next(behind: end, range, positions)
        writer.endArray()
        try context.endPage(&writer, next, count: parameters.countsExactly ? count : nil, parameters.representation, facets)
        let response = context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag,
            notes: elementWriter.notes.union(facets?.notes))
        return (response, next)
    }

    /// Writes a page as NDJSON or CSV. It ends early when the response is full; the cursor is then in the header field `Link`.
    private func lines(
        _ elementWriter: ElementWriter, _ positions: CollectionView.Positions, _ range: Range<Int>, etag: String
    ) throws(Problem) -> Made {
        let lines = ElementLines(elements, elementWriter, context, parameters: parameters)
        let buffer = OutputBuffer(capacity: 4096)
        lines.begin(in: buffer)
        var end = range.lowerBound
        try Problem.mapping { () throws(StorageError) in
            while end < range.upperBound, try lines.fits(at: positions[end], in: buffer) { end += 1 }
        }
        let next = try next(behind: end, range, positions)
        return (context.answer(buffer, type: lines.mediaType, etag: etag, notes: lines.notes), next)
    }

    /// Returns the cursor of the next page; nil when this one is the last.
    ///
    /// A page of no rows, as `limit=0` gives, has no next page. A page whose first element alone
    /// exceeds the limits is a problem, because a cursor would lead to the same element again.
    private func next(behind end: Int, _ range: Range<Int>, _ positions: CollectionView.Positions) throws(Problem) -> String? {
        guard end > range.lowerBound || range.isEmpty else { throw Problem(context.call.request.budget.stop ?? .expired) }
        return end < positions.count && end > range.lowerBound ? PageCursor(index: end).text(identity: identity) : nil
    }

    /// Returns a response whose lines are made while it is sent.
    private func stream(
        _ elementWriter: ElementWriter, _ positions: CollectionView.Positions, from start: Int, _ etag: String
    ) -> Response {
        let lines = ElementLines(elements, elementWriter, context, parameters: parameters)
        var response = Response(status: 200)
        response.add("Content-Type", constant: lines.mediaType)
        context.addReadHeaders(to: &response, etag: etag)
        if parameters.countsExactly { response.add("Realm-Count", String(positions.count)) }
        let pace = StreamPace(context.call.request.budget, context.limits.readSeconds)
        response.body = .stream(ElementStream(lines, positions, from: start, pace))
        return response
    }

    /// Returns the index of the page's first element, from `after` or `offset`.
    ///
    /// - Throws: `cursor_invalid` for a cursor of another request or of a list of objects.
    func firstIndex() throws(Problem) -> Int {
        guard let after = parameters.after else { return parameters.offset ?? 0 }
        let cursor = try PageCursor(after, identity: identity)
        guard cursor.position.cells.isEmpty, cursor.position.key.rawValue >= 0 else {
            throw Problem(.cursorInvalid, "the cursor belongs to another kind of page").with("parameter", "after")
        }
        return Int(clamping: cursor.position.key.rawValue)
    }

    /// The identity that cursors of this request carry.
    var identity: UInt64 {
        parameters.identity(of: CollectionPage.canonical(context.call.request.target.path), by: context.rightsIdentity)
    }

    /// Returns a path that is the same however it was encoded: `@links` and `%40links` are one page.
    private static func canonical(_ path: String) -> String {
        guard path.contains("%") else { return path }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            let text = PercentDecoding.decode(ArraySlice(segment.utf8)) ?? String(segment)
            return text.replacing("%", with: "%25").replacing("/", with: "%2F")
        }
        return segments.joined(separator: "/")
    }
}

/// Computes the identity of a list, which its cursors carry.
extension ReadParameters {
    /// Returns a hash of everything that determines the rows of a request and their order: the path, the rights, the predicate
    /// with its arguments, the order, the sections, and the one section that is wanted. Cursors carry it, so that one of another
    /// request is refused.
    ///
    /// - Parameters:
    ///   - path: A text that identifies the target of the request; it need not be a URL.
    ///   - rights: The identity of the rights of a sender that may see a part of the target; empty for one that may see all of
    ///     it.
    func identity(of path: String, by rights: String) -> UInt64 {
        var hash = StableHash(seed: 1)
        hash.add(path)
        if !rights.isEmpty { hash.add(rights) }
        hash.add(predicate ?? "")
        for argument in args { hash.add(argument.canonicalText) }
        hash.add(UInt64(args.count))
        for term in sort {
            hash.add(term.path)
            hash.add(term.isAscending ? 1 : 2)
        }
        hash.add(UInt64(sort.count))
        for path in distinct { hash.add(path) }
        hash.add(sectionBy ?? "")
        switch section {
        case nil: hash.add(0)
        case .text(let text)?:
            hash.add(1)
            hash.add(text)
        case .json(let value)?:
            hash.add(2)
            hash.add(value.canonicalText)
        }
        return hash.value
    }
}

/// The members that all pages have in addition to their rows.
extension ReadContext {
    /// Writes the end of the document of a page, after its rows: `next`, perhaps `count` and facets, and the version.
    ///
    /// - Parameters:
    ///   - next: The cursor of the next page; nil for none.
    ///   - count: The number of all rows; nil when it was not requested.
    func endPage(
        _ writer: inout JSONWriter, _ next: String?, count: Int?, _ representation: Representation,
        _ facets: FacetCounts? = nil
    ) throws(Problem) {
        writer.member("next", text: next)
        if let count {
            writer.key("count")
            writer.integer(count, representation)
        }
        try facets?.write(to: &writer)
        writeVersion(to: &writer)
        writer.endObject()
    }

    /// Adds the header fields of a page: `Link` with the address of the next page, and `Realm-Count`.
    ///
    /// - Parameters:
    ///   - response: The response to complete.
    ///   - next: The cursor of the next page; nil for none.
    ///   - count: The number of all rows; nil when it was not requested.
    func addPageHeaders(to response: inout Response, next: String?, count: Int?) {
        if let next { response.addNextPage(nextURL(next)) }
        if let count { response.add("Realm-Count", String(count)) }
    }

    /// Returns the target of this request with `after` set to a cursor; an `after` or `offset` that it had is removed.
    private func nextURL(_ cursor: String) -> String {
        var parts: [String] = []
        if let query = call.request.target.query {
            for part in call.request.target.bytes[query].split(separator: UInt8(ascii: "&")) {
                let name = PercentDecoding.decode(part.prefix { $0 != UInt8(ascii: "=") }, plusIsSpace: true)
                if name != "after", name != "offset" { parts.append(String(decoding: part, as: UTF8.self)) }
            }
        }
        parts.append("after=" + PercentDecoding.encode(cursor))
        return call.request.target.path + "?" + parts.joined(separator: "&")
    }
}

/// Streams all elements of a collection as lines, which are made while the response is sent.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
private final class ElementStream: ChunkProducer, @unchecked Sendable {
    /// The elements to write, in their order.
    private let positions: CollectionView.Positions
    private let lines: ElementLines
    /// Limits the time that each chunk may take.
    private let pace: StreamPace
    /// The index, in `positions`, of the next element to write.
    private var next: Int
    /// Whether the line of column names was written.
    private var hasBegun = false

    /// Creates a stream of the lines from an index on.
    ///
    /// - Parameters:
    ///   - positions: The elements, in their order.
    ///   - first: The index in `positions` of the first element to write.
    ///   - pace: The time that each chunk may take.
    init(_ lines: ElementLines, _ positions: CollectionView.Positions, from first: Int, _ pace: StreamPace) {
        self.lines = lines
        self.pace = pace
        self.positions = positions
        next = first
    }

    /// Writes lines until the chunk is full; returns whether the stream is complete.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        pace.beginChunk()
        if !hasBegun { lines.begin(in: buffer) }
        hasBegun = true
        while next < positions.count {
            guard buffer.count < Streaming.chunkBytes else { return false }
            lines.budget.beginPart(at: buffer.count)
            try lines.budget.spend()
            try lines.write(at: positions[next], to: buffer)
            next += 1
        }
        return true
    }
}
