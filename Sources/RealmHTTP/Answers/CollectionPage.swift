// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// A page through a collection: the envelope of lists, over positions in the collection.
struct CollectionPage {
    /// The version that is read.
    let context: ReadContext
    /// What the request asks for.
    let parameters: ReadParameters
    /// The collection.
    let elements: Elements

    /// The page that was asked for, or all elements as lines, which are streamed when they are many.
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

    private typealias Made = (response: Response, next: String?)

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

    /// The cursor of the next page; a page of no rows leads nowhere. One that is full before its first row is a problem.
    private func next(behind end: Int, _ range: Range<Int>, _ positions: CollectionView.Positions) throws(Problem) -> String? {
        guard end > range.lowerBound || range.isEmpty else { throw Problem(context.request.budget.stop ?? .expired) }
        return end < positions.count && end > range.lowerBound ? PageCursor(index: end).text(identity: identity) : nil
    }

    /// NDJSON and CSV without a limit have all elements.
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

    /// Where the page begins. The cursor of a collection is a position, as positions are what a list is made of.
    private func firstIndex() throws(Problem) -> Int {
        guard let after = parameters.after else { return parameters.offset ?? 0 }
        let cursor = try PageCursor(after, identity: identity)
        guard cursor.position.cells.isEmpty, cursor.position.key.rawValue >= 0 else {
            throw Problem(.cursorInvalid, "the cursor belongs to another kind of page").with("parameter", "after")
        }
        return Int(clamping: cursor.position.key.rawValue)
    }

    private var identity: UInt64 { parameters.identity(of: context.request.target.path) }
}

extension ReadParameters {
    /// What a cursor belongs to: the path and everything that decides which rows there are in which order.
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
        return hash.value
    }
}

extension ReadContext {
    /// `Link` to the next page, and the count.
    func addPageHeaders(to response: inout Response, next: String?, count: Int?) {
        if let next { response.addNextPage(nextURL(next)) }
        if let count { response.add("Realm-Count", String(count)) }
    }

    /// This request's target with `after` set, and what it excludes taken away.
    private func nextURL(_ cursor: String) -> String {
        var parts: [String] = []
        if let query = request.target.query {
            for part in request.target.bytes[query].split(separator: UInt8(ascii: "&")) {
                let name = String(decoding: part.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
                if name != "after", name != "offset" { parts.append(String(decoding: part, as: UTF8.self)) }
            }
        }
        parts.append("after=" + PercentDecoding.encode(cursor))
        return request.target.path + "?" + parts.joined(separator: "&")
    }
}
