// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmFormats
internal import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The parameters that select objects and put them in order: `where`, `args`, `sort` and `distinct`.
///
/// Their limits and forms are defined here only. Lists, aggregates, exports, writes of many
/// objects, batches, migrations and subscriptions read them with these functions.
package struct SelectionParameters: Sendable, Equatable {
    /// A key path with its direction, as one term of an order.
    package struct SortTerm: Sendable, Equatable {
        /// The key path whose values decide the order.
        package let path: String
        /// Whether smaller values come first.
        package let isAscending: Bool

        /// Reads a term of `sort`: `age` is ascending, `-age` descending.
        init(_ text: String) {
            let rest = text.dropping(prefix: "-")
            isAscending = rest == nil
            path = rest.map { String($0) } ?? text
        }

        /// The term as it is written in a request.
        var text: String { (isAscending ? "" : "-") + path }
    }

    /// The text of the predicate in `where`; nil selects all objects.
    package var predicate: String?
    /// The arguments of `where`, as JSON that has not been decoded against a schema.
    package var args: [JSONValue] = []
    /// The order. A later term decides only among rows that are equal in the earlier ones.
    package var sort: [SortTerm] = []
    /// Key paths. Of the rows that are equal in all of them only the first is kept.
    package var distinct: [String] = []

    /// Selects all objects, without a sort.
    package init() {}

    /// Reads the four parameters. Names that a request does not take were refused before, by `ParameterSet`.
    ///
    /// - Throws: `invalid_parameter`, and `invalid_query` for a predicate or arguments above their
    ///   limits.
    package init(_ set: ParameterSet, _ limits: Limits) throws(Problem) {
        predicate = try SelectionParameters.predicate(set, "where", limits)
        args = try SelectionParameters.args(try set.json("args", depthLimit: limits.jsonDepth), limits)
        sort = (try set.list("sort", atMost: limits.queryTerms) ?? []).map(SortTerm.init)
        guard !sort.contains(where: \.path.isEmpty) else { throw .invalidParameter("sort", "'sort' has an empty key path") }
        distinct = try set.list("distinct", atMost: limits.queryTerms) ?? []
    }

    /// Returns the text of a predicate in a parameter; nil when it is absent. It is not parsed here.
    ///
    /// - Throws: `invalid_query` with `limit` for a text longer than `query-bytes`.
    package static func predicate(_ set: ParameterSet, _ name: String, _ limits: Limits) throws(Problem) -> String? {
        guard let text = try set.text(name) else { return nil }
        try checkLength(of: text, parameter: name, limits)
        return text
    }

    /// Parses the predicate of `where`.
    ///
    /// - Throws: `invalid_query` with the position of the error, or with `limit` for a text that is
    ///   too long.
    package static func query(_ text: String, _ limits: Limits) throws(Problem) -> Query {
        try checkLength(of: text, parameter: "where", limits)
        return try Problem.querying { () throws(QueryError) in try Query.parse(text) }
    }

    /// Throws `invalid_query` for a text of more than `query-bytes` bytes of UTF-8.
    private static func checkLength(of text: String, parameter: String, _ limits: Limits) throws(Problem) {
        guard text.utf8.count > limits.queryBytes else { return }
        throw .overLimit(.invalidQuery, "a query may have at most \(limits.queryBytes) bytes", limit: limits.queryBytes)
            .with("parameter", parameter)
    }

    /// Returns the elements of `args`; none when it is absent.
    ///
    /// - Throws: `invalid_parameter` when it is no array, `invalid_query` with `limit` for more
    ///   than `query-args` elements.
    package static func args(_ json: JSONValue?, _ limits: Limits) throws(Problem) -> [JSONValue] {
        guard let json else { return [] }
        guard let args = json.array else { throw .invalidParameter("args", "'args' is \(json.kind), but must be an array") }
        guard args.count <= limits.queryArgs else {
            throw .overLimit(.invalidQuery, "at most \(limits.queryArgs) arguments are allowed", limit: limits.queryArgs)
                .with("parameter", "args")
        }
        return args
    }
}
