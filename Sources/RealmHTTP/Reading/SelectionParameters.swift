// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery

/// The parameters that select objects and put them in order: `where`, `args`, `sort` and `distinct`.
///
/// Their limits and their forms are stated here once. Lists, aggregates, exports, writes of many objects, batches,
/// migrations and subscriptions all read them by these functions.
package struct SelectionParameters: Sendable, Equatable {
    /// A key path with its direction.
    package struct SortTerm: Sendable, Equatable {
        package let path: String
        package let isAscending: Bool

        /// Reads a term of `sort`: `age` is ascending, `-age` descending.
        init(_ text: String) {
            isAscending = !text.hasPrefix("-")
            path = isAscending ? text : String(text.dropFirst())
        }

        /// The term as it is written in a request.
        var text: String { (isAscending ? "" : "-") + path }
    }

    /// The text of `where`; nil selects all objects.
    package var predicate: String?
    /// The arguments of `where`, not yet read against a schema.
    package var args: [JSONValue] = []
    /// The order; later terms count among those that the earlier ones find equal.
    package var sort: [SortTerm] = []
    /// Key paths; of the objects that are equal in all of them the first is kept.
    package var distinct: [String] = []

    /// Selects everything, in no particular order.
    package init() {}

    /// Reads the four parameters; those that do not exist for a request are refused before, by `ParameterSet`.
    init(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        predicate = try SelectionParameters.predicate(set, "where", limits)
        args = try SelectionParameters.args(try set.json("args", depthLimit: limits.jsonDepth), limits)
        sort = (try set.list("sort", atMost: limits.queryTerms) ?? []).map(SortTerm.init)
        guard !sort.contains(where: \.path.isEmpty) else { throw .invalidParameter("sort", "'sort' has an empty key path") }
        distinct = try set.list("distinct", atMost: limits.queryTerms) ?? []
    }

    /// The text of a predicate in the parameter called `name`.
    static func predicate(_ set: ParameterSet, _ name: String, _ limits: Limits) throws(Problem) -> String? {
        guard let text = try set.text(name) else { return nil }
        try checkLength(of: text, parameter: name, limits)
        return text
    }

    /// Parses the predicate of `where`.
    static func query(_ text: String, _ limits: Limits) throws(Problem) -> Query {
        try checkLength(of: text, parameter: "where", limits)
        return try Problem.querying { () throws(QueryError) in try Query.parse(text) }
    }

    private static func checkLength(of text: String, parameter: String, _ limits: Limits) throws(Problem) {
        guard text.utf8.count > limits.queryBytes else { return }
        throw .overLimit(.invalidQuery, "a query may have at most \(limits.queryBytes) bytes", limit: limits.queryBytes)
            .with("parameter", parameter)
    }

    /// The array of `args`; an absent one is empty.
    static func args(_ json: JSONValue?, _ limits: Limits) throws(Problem) -> [JSONValue] {
        guard let json else { return [] }
        guard let args = json.array else { throw .invalidParameter("args", "'args' is \(json.kind), but has to be an array") }
        guard args.count <= limits.queryArgs else {
            throw .overLimit(.invalidQuery, "at most \(limits.queryArgs) arguments are taken", limit: limits.queryArgs)
                .with("parameter", "args")
        }
        return args
    }
}
