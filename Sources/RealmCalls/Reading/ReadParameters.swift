// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parameters of a read, from the URL and the body, each value checked on its own.
///
/// Values that depend on the schema, such as key paths and the types of arguments, are checked later against the version that is
/// read.
package struct ReadParameters: Sendable {
    /// A key path with its direction, as one term of `sort`.
    package typealias SortTerm = SelectionParameters.SortTerm

    /// The predicate, its arguments, the order and the distinct key paths.
    package var selection = SelectionParameters()
    /// The number of rows of a page; nil for `defaultLimit`.
    package var limit: Int?
    /// The cursor from the preceding page; nil for the first page.
    package var after: String?
    /// The number of rows to leave out at the beginning.
    package var offset: Int?
    /// Whether the number of all matches is counted (`count=exact`), at a cost that grows with it.
    package var countsExactly = false
    /// The key paths of the properties that are shown; nil shows all stored properties.
    package var fields: [String]?
    /// The key paths of links that are replaced with the objects they lead to.
    package var expand: [String] = []
    /// The positions in the result whose objects are returned; negative ones count from the end.
    package var at: [Int]?
    /// The key of the object, or the element, whose position in the result is returned.
    package var indexOf: ParameterSet.TextOrJSON?
    /// The predicate whose first match's position in the result is returned.
    package var indexOfWhere: String?
    /// Whether the plan of the query is returned instead of its result.
    package var explain = false
    /// The key path, perhaps with a function, by whose value the result is grouped.
    package var sectionBy: String?
    /// The key of the only section that is returned. It is a text in a URL and a JSON value in a body.
    package var section: ParameterSet.TextOrJSON?
    /// The aggregates to compute, each a text such as `max:age`.
    package var ops: [String]?
    /// The key paths by which aggregates are grouped; nil for those of the whole result.
    package var groupBy: [String]?
    /// The condition on groups; nil for all groups.
    package var having: String?
    /// The key paths whose values are counted in addition to a page; nil for none.
    package var facets: [String]?
    /// The id of the snapshot to read; nil for the newest version.
    package var snapshot: String?
    /// The name of a version to read; nil for the newest one, or that of the snapshot.
    package var version: String?
    /// The form of values: plain or Extended JSON, `ints` and `meta`.
    package var representation = Representation()
    /// The form of the response, negotiated from `format` and `Accept`.
    package var format = ResponseFormat.json
    /// The names of the parameters that were given, in the URL or the body.
    package private(set) var given: [String] = []

    /// The text of the predicate in `where`; nil when all objects are selected.
    package var predicate: String? { selection.predicate }
    /// The values for `$0`, `$1` and so on in `where`, as JSON.
    package var args: [JSONValue] { selection.args }
    /// The terms of the order, the most significant first.
    package var sort: [SortTerm] { selection.sort }
    /// The key paths by which equal rows are reduced to the first one.
    package var distinct: [String] { selection.distinct }

    /// Reads the parameters of a request. Its operation states which there are.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - formats: The forms in which the endpoint can answer.
    ///   - body: The object in the body; nil for a request without one.
    /// - Throws: `not_acceptable` before anything else; then `unknown_parameter`,
    ///   `invalid_parameter`, `invalid_query` or `conflicting_parameters`.
    package init(
        _ call: Call, formats: ResponseFormat.Choice, body: JSONObject? = nil
    ) throws(Problem) {
        if body == nil, call.request.target.query == nil {
            format = try ResponseFormat.negotiate(call.request, parameter: nil, among: formats)
            if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
            return
        }
        // Precedence: 406 is reported before 400, so a malformed URL is reported only after the negotiation.
        let url = Result { () throws(Problem) in try QueryParameters(call.request.target) }
        let wanted = (try? url.get())?["format"] ?? body?["format"]?.string
        format = try ResponseFormat.negotiate(call.request, parameter: wanted, among: formats)
        // A file name belongs to links.
        let bodyNames = body == nil ? [] : call.queryNames.filter { $0 != "download" }
        let set = try ParameterSet(try url.get(), urlNames: call.queryNames, body: body, bodyNames: bodyNames)
        let limits = call.limits
        _ = try set.text("format")
        try readQuery(set, limits)
        try readPage(set, limits)
        try readShape(set, limits)
        try checkCombinations(set, isGrouping: call.queryNames.contains("groupBy"))
        given = set.names
        snapshot = try set.text("snapshot")
        version = try set.text("version")
    }

    /// Reads the parameters that select objects, and the aggregates.
    private mutating func readQuery(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        selection = try SelectionParameters(set, limits)
        indexOfWhere = try SelectionParameters.predicate(set, "indexOfWhere", limits)
        ops = try set.list("ops", atMost: limits.queryTerms)
        groupBy = try set.list("groupBy", atMost: limits.queryTerms)
        if let groupBy, groupBy.isEmpty { throw .invalidParameter("groupBy", "'groupBy' needs at least one key path") }
        having = try set.text("having")
        if let having, having.utf8.count > limits.queryBytes {
            throw Problem.invalidParameter("having", "at most \(limits.queryBytes) bytes are allowed")
        }
        facets = try set.list("facets", atMost: limits.queryTerms)
    }

    /// Reads the parameters that decide which part or which fact of the result is returned.
    private mutating func readPage(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        limit = try set.int("limit", in: 0...limits.page)
        offset = try set.int("offset", in: 0...Int.max)
        after = try set.text("after")
        countsExactly = try set.choice("count", ["none", "exact"]) == "exact"
        at = try set.integers("at")
        if let at, at.count > limits.page {
            throw Problem.invalidParameter("at", "at most \(limits.page) positions are allowed").with(
                "limit", .integer(Int64(limits.page)))
        }
        indexOf = set.textOrJSON("indexOf")
        sectionBy = try set.text("sectionBy")
        section = set.textOrJSON("section")
        explain = try set.flag("explain")
    }

    /// Reads the parameters that determine the written part of each object, and its form.
    private mutating func readShape(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        fields = try set.paths("fields", atMost: limits.fields)
        expand = try set.paths("expand", atMost: limits.fields) ?? []
        representation.includesMeta = try set.choice("meta", ["full", "none"]) == "full"
        representation.intsAsStrings = try set.choice("ints", ["number", "string"]) == "string"
        if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
    }

    /// Throws `conflicting_parameters` for parameters that exclude each other, or that need another one.
    private func checkCombinations(_ set: ParameterSet, isGrouping: Bool) throws(Problem) {
        if isGrouping, groupBy == nil {
            for name in ["sort", "limit", "after", "offset", "count", "having"] where set.has(name) {
                throw .conflict("'\(name)' needs 'groupBy'", parameter: name)
            }
        }
        if offset != nil, after != nil {
            throw .conflict("'offset' and 'after' cannot be combined", parameter: "offset")
        }
        if section != nil, sectionBy == nil {
            throw .conflict("'section' needs 'sectionBy'", parameter: "section")
        }
        let answers = ["at", "indexOf", "indexOfWhere", "explain", "sectionBy"].filter { name in
            name == "explain" ? explain : set.has(name)
        }
        if facets != nil, let first = answers.first {
            throw .conflict("'facets' cannot be combined with '\(first)'", parameter: "facets")
        }
        if answers.count > 1 {
            throw .conflict("'\(answers[0])' and '\(answers[1])' cannot be combined", parameter: answers[1])
        }
        guard let first = answers.first, first != "sectionBy" else { return }
        for name in ["limit", "after", "offset"] where set.has(name) && first != "explain" {
            throw .conflict("'\(name)' cannot be combined with '\(first)'", parameter: name)
        }
    }

    /// Returns where in a result the positions of `at` are; negative ones count from its end. An empty result has neither a first nor a
    /// last object, so nothing is at 0 and -1 then.
    ///
    /// - Parameters:
    ///   - positions: The positions of a request.
    ///   - count: The number of rows of the result, as far as it is known.
    /// - Throws: `invalid_parameter` for a position outside the result.
    package static func indexes(of positions: [Int], count: Int) throws(Problem) -> [Int] {
        var indexes: [Int] = []
        for position in positions {
            if count == 0, position == 0 || position == -1 { continue }
            let index = position < 0 ? count + position : position
            guard index >= 0, index < count else {
                throw .invalidParameter("at", "the result has no object at position \(position)")
            }
            indexes.append(index)
        }
        return indexes
    }

    /// Throws `not_acceptable` when the client wants lines, for a response that is one document and not a list of rows.
    package func requireDocument() throws(Problem) {
        guard !isTabular else {
            throw Problem(.notAcceptable, "this answer is a document, not a list of rows")
        }
    }

    /// The number of rows of a page when `limit` is absent. NDJSON and CSV return all rows then.
    package static let defaultLimit = 100

    /// Whether the response is NDJSON or CSV, whose rows are streamed without an envelope.
    package var isTabular: Bool { format == .ndjson || format == .csv }

    /// The code of the format and the representation together, which distinguishes entity tags of one state.
    package var code: String {
        switch format {
        case .ndjson: return "l" + representation.code
        case .csv: return "c" + representation.code
        default: return representation.code
        }
    }
}
