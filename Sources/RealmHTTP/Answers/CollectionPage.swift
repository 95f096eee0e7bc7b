// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Answers a request for the elements of a collection, page by page or as lines.
///
/// Its envelope is that of object lists. A cursor is a position in the collection (or in the
/// filtered view of it), because elements have no keys of their own.
struct CollectionPage {
    /// The version that is read, and the request.
    let context: ReadContext
    /// The parameters of the request: filter, order, page and representation.
    let parameters: ReadParameters
    /// The collection whose elements are returned.
    let elements: Elements

    /// Returns the page, or all elements as lines. Lines without a limit are streamed while a
    /// worker makes them.
    ///
    /// - Parameter elementWriter: Writes one element. Its notes end up in header fields.
    /// - Throws: `cursor_invalid`, the problems of a filter, and that of a budget that is used up
    ///   before the first element.
    func answer(_ elementWriter: ElementWriter) throws(Problem) -> Response {
        let etag = context.versionTag(parameters.code)
        if context.call.isCurrent(etag) { return context.unchanged(etag) }
        let positions = try CollectionView(context: context, parameters: parameters, elements: elements).positions()
        let start = try firstIndex()
        if parameters.isTabular, parameters.limit == nil { return stream(elementWriter, positions, from: start, etag) }
        let limit = parameters.limit ?? ReadParameters.defaultLimit
        let first = min(start, positions.count)
        let end = limit < positions.count - first ? first + limit : positions.count
        let made =
            parameters.isTabular
            ? try lines(elementWriter, positions, first..<end, etag: etag)
            : try envelope(elementWriter, positions, first..<end, etag: etag)
        var response = made.response
        context.addPageHeaders(to: &response, next: made.next, count: parameters.countsExactly ? positions.count : nil)
        return response
    }

    /// A response, with the cursor of the next page; nil when there is none.
    private typealias Made = (response: Response, next: String?)

    /// Writes a page as a JSON document: `items`, `next`, perhaps `count`, and the version. It ends
    /// early when the answer is full.
    private func envelope(
        _ elementWriter: ElementWriter, _ positions: CollectionView.Positions, _ range: Range<Int>, etag: String
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
        writer.member("next", text: next)
        if parameters.countsExactly {
            writer.key("count")
            writer.integer(positions.count, parameters.representation)
        }
        context.writeVersion(to: &writer)
        writer.endObject()
        let response = context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: elementWriter.notes)
        return (response, next)
    }

    /// Writes a page as NDJSON or CSV. It ends early when the answer is full; the cursor is then in
    /// the header field `Link`.
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
        guard end > range.lowerBound || range.isEmpty else { throw Problem(context.request.budget.stop ?? .expired) }
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
        let pace = StreamPace(context.request.budget, context.limits)
        response.body = .stream(ElementStream(lines, positions, from: start, pace))
        return response
    }

    /// Returns the index of the page's first element, from `after` or `offset`.
    ///
    /// - Throws: `cursor_invalid` for a cursor of another request or of a list of objects.
    private func firstIndex() throws(Problem) -> Int {
        guard let after = parameters.after else { return parameters.offset ?? 0 }
        let cursor = try PageCursor(after, identity: identity)
        guard cursor.position.cells.isEmpty, cursor.position.key.rawValue >= 0 else {
            throw Problem(.cursorInvalid, "the cursor belongs to another kind of page").with("parameter", "after")
        }
        return Int(clamping: cursor.position.key.rawValue)
    }

    /// The identity that cursors of this request carry.
    private var identity: UInt64 { parameters.identity(of: context.request.target.path) }
}

/// Computes the identity of a list, which its cursors carry.
extension ReadParameters {
    /// Returns a hash of everything that decides which rows a request has and in which order: the
    /// path, the predicate with its arguments, the order, the sections, and the one section that is
    /// wanted. Cursors carry it, so that one of another request is refused.
    ///
    /// - Parameter path: What is read. It need not be a URL, but must differ between things that
    ///   are read.
    func identity(of path: String) -> UInt64 {
        var hash = StableHash(seed: 1)
        hash.add(path)
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

/// Adds the header fields of pages.
extension ReadContext {
    /// Adds the header fields of a page: `Link` with the address of the next page, and
    /// `Realm-Count`.
    ///
    /// - Parameters:
    ///   - response: The response to complete.
    ///   - next: The cursor of the next page; nil for none.
    ///   - count: The number of all rows; nil when it was not requested.
    func addPageHeaders(to response: inout Response, next: String?, count: Int?) {
        if let next { response.addNextPage(nextURL(next)) }
        if let count { response.add("Realm-Count", String(count)) }
    }

    /// Returns the target of this request with `after` set to a cursor; an `after` or `offset` that
    /// it had is removed.
    private func nextURL(_ cursor: String) -> String {
        var parts: [String] = []
        if let query = request.target.query {
            for part in request.target.bytes[query].split(separator: UInt8(ascii: "&")) {
                let name = PercentDecoding.decode(part.prefix { $0 != UInt8(ascii: "=") }, plusIsSpace: true)
                if name != "after", name != "offset" { parts.append(String(decoding: part, as: UTF8.self)) }
            }
        }
        parts.append("after=" + PercentDecoding.encode(cursor))
        return request.target.path + "?" + parts.joined(separator: "&")
    }
}
