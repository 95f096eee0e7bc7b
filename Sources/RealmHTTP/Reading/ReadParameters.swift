// SPDX-License-Identifier: Apache-2.0

/// What a read of objects asks for, from URL and body, each value checked by itself.
package struct ReadParameters: Sendable {
    package typealias SortTerm = SelectionParameters.SortTerm

    /// Which objects, and in which order.
    package var selection = SelectionParameters()
    /// Rows of a page; nil for the usual number.
    package var limit: Int?
    /// The cursor of the page before.
    package var after: String?
    /// Rows to leave out at the beginning.
    package var offset: Int?
    /// Whether the number of all matches is counted.
    package var countsExactly = false
    /// Paths of the properties that are shown; nil shows all.
    package var fields: [String]?
    /// Paths of links in whose place the objects are shown.
    package var expand: [String] = []
    /// Positions in the result; negative ones count from its end.
    package var at: [Int]?
    /// The key of the object whose position is asked for.
    package var indexOf: String?
    /// The predicate whose first match's position is asked for.
    package var indexOfWhere: String?
    /// Whether the plan of the query is asked for.
    package var explain = false
    /// The key path that groups the result.
    package var sectionBy: String?
    /// The key of the only section that is asked for.
    package var section: ParameterSet.TextOrJSON?
    /// The aggregates that are asked for.
    package var ops: [String]?
    /// The id of the snapshot to read.
    package var snapshot: String?
    /// How values are written.
    package var representation = Representation()
    /// The media type of the answer.
    package var format = ResponseFormat.json

    package var predicate: String? { selection.predicate }
    package var args: [JSONValue] { selection.args }
    package var sort: [SortTerm] { selection.sort }
    package var distinct: [String] { selection.distinct }

    /// What kind of read it is, which decides the parameters that exist.
    package enum Kind: Sendable {
        case list, aggregate, object, collection

        /// What may stand in a body.
        var names: [String] { Kind.allNames[self]?.body ?? [] }
        /// What may stand in a URL.
        var urlNames: [String] { Kind.allNames[self]?.url ?? [] }

        /// Made once, as every request needs them.
        private static let allNames: [Kind: (body: [String], url: [String])] = {
            var names: [Kind: (body: [String], url: [String])] = [:]
            for kind in [Kind.list, .aggregate, .object, .collection] {
                names[kind] = (kind.bodyNames, kind.bodyNames + ["format"])
            }
            return names
        }()

        private var bodyNames: [String] {
            switch self {
            case .list:
                return [
                    "where", "args", "sort", "distinct", "limit", "after", "offset", "count", "fields", "expand", "meta", "ints",
                    "at", "indexOf", "indexOfWhere", "explain", "sectionBy", "section", "snapshot",
                ]
            case .aggregate: return ["where", "args", "ops", "ints", "snapshot"]
            case .object: return ["fields", "expand", "meta", "ints", "snapshot"]
            case .collection:
                return [
                    "where", "args", "sort", "distinct", "limit", "after", "offset", "count", "fields", "expand", "meta", "ints",
                    "snapshot",
                ]
            }
        }
    }

    /// Reads the parameters of a request; `format` is taken from URLs only.
    package init(
        _ request: Request, _ limits: Limits, _ kind: Kind, formats: ResponseFormat.Choice, body: JSONObject? = nil
    ) throws(Problem) {
        if body == nil, request.target.query == nil {
            format = try ResponseFormat.negotiate(request, parameter: nil, among: formats)
            if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
            return
        }
        // Whether an answer can be given comes before what is asked; a malformed URL is told a line later.
        let url = Result { () throws(Problem) in try QueryParameters(request.target) }
        format = try ResponseFormat.negotiate(request, parameter: (try? url.get())?["format"], among: formats)
        let set = try ParameterSet(try url.get(), urlNames: kind.urlNames, body: body, bodyNames: kind.names)
        try readQuery(set, limits)
        try readPage(set, limits)
        try readShape(set, limits)
        try checkCombinations(set)
        snapshot = try set.text("snapshot")
    }

    private mutating func readQuery(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        selection = try SelectionParameters(set, limits)
        indexOfWhere = try SelectionParameters.predicate(set, "indexOfWhere", limits)
        ops = try set.list("ops", atMost: limits.queryTerms)
    }

    private mutating func readPage(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        limit = try set.int("limit", in: 0...limits.page)
        offset = try set.int("offset", in: 0...Int.max)
        after = try set.text("after")
        countsExactly = try set.choice("count", ["none", "exact"]) == "exact"
        at = try set.integers("at")
        if let at, at.count > limits.page {
            throw Problem.invalidParameter("at", "at most \(limits.page) positions are taken").with(
                "limit", .integer(Int64(limits.page)))
        }
        indexOf = try set.text("indexOf")
        sectionBy = try set.text("sectionBy")
        section = set.textOrJSON("section")
        explain = try set.flag("explain")
    }

    private mutating func readShape(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        fields = try set.paths("fields", atMost: limits.fields)
        expand = try set.paths("expand", atMost: limits.fields) ?? []
        representation.includesMeta = try set.choice("meta", ["full", "none"]) == "full"
        representation.intsAsStrings = try set.choice("ints", ["number", "string"]) == "string"
        if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
    }

    private func checkCombinations(_ set: ParameterSet) throws(Problem) {
        if offset != nil, after != nil {
            throw .conflict("'offset' and 'after' exclude each other", parameter: "offset")
        }
        if section != nil, sectionBy == nil {
            throw .conflict("'section' needs 'sectionBy'", parameter: "section")
        }
        let answers = ["at", "indexOf", "indexOfWhere", "explain", "sectionBy"].filter { name in
            name == "explain" ? explain : set.has(name)
        }
        if answers.count > 1 {
            throw .conflict("'\(answers[0])' and '\(answers[1])' exclude each other", parameter: answers[1])
        }
        guard let first = answers.first, first != "sectionBy" else { return }
        for name in ["limit", "after", "offset"] where set.has(name) && first != "explain" {
            throw .conflict("'\(name)' has no meaning beside '\(first)'", parameter: name)
        }
    }

    /// Rows of a page when `limit` is not given; NDJSON and CSV then have all.
    package static let defaultLimit = 100

    /// Whether the rows are streamed without an envelope.
    package var isTabular: Bool { format == .ndjson || format == .csv }

    /// What entity tags carry for format and representation together.
    package var code: String {
        switch format {
        case .ndjson: return "l" + representation.code
        case .csv: return "c" + representation.code
        default: return representation.code
        }
    }
}
