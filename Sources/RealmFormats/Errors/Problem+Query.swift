// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmQuery
internal import RealmStorage

extension Problem {
    /// Makes the problem for a query that does not parse, does not fit the class, or failed while it ran.
    ///
    /// Errors in the text are `invalid_query`, or `unknown_key_path` when a property does not exist; both carry `position`, an
    /// offset into the text in Unicode scalars, where the engine knows it. A damaged file and a passed deadline become the same
    /// problems as in other reads.
    ///
    /// - Parameters:
    ///   - error: The error of the query engine.
    ///   - parameter: The name of the request parameter that holds the query text, such as `where`.
    package init(_ error: QueryError, parameter: String) {
        switch error {
        case .syntax(let position, _, _, _):
            self = Problem(.invalidQuery, error.description)
                .with("parameter", parameter).with("position", .integer(Int64(position)))
        case .invalid(let kind, _, _, let position, _):
            let problem = Problem(kind == .unknownProperty ? .unknownKeyPath : .invalidQuery, error.description)
                .with("parameter", parameter)
            self = position.map { problem.with("position", .integer(Int64($0))) } ?? problem
        case .storage(let error): self = Problem(serving: error)
        case .cancelled: self = Problem(.deadlineExceeded, "the request took longer than the server allows")
        }
    }

    /// Makes the problem for a query whose parts come from different request parameters.
    ///
    /// An error in the sort or in `distinct` names that parameter and has no `position`, because positions count characters of
    /// the query text only. All other errors name the parameter of the text.
    ///
    /// - Parameters:
    ///   - error: The error of the query engine, with the part of the query that it concerns.
    ///   - names: The request parameters that the parts were read from.
    package init(_ error: QueryError, in names: QueryPartNames) {
        guard let name = names.orderName(of: error.part) else {
            self.init(error, parameter: names.text)
            return
        }
        switch error {
        case .syntax(_, let detail, _, _):
            self = Problem(.invalidQuery, "'\(name)' is not a key path: \(detail)").with("parameter", name)
        case .invalid(let kind, let detail, let culprit, _, _):
            let hint = kind == .unknownProperty && name == "sort" ? Problem.directionHint(culprit ?? "") : ""
            self = Problem(kind == .unknownProperty ? .unknownKeyPath : .invalidQuery, detail + hint).with("parameter", name)
        case .storage, .cancelled: self.init(error, parameter: name)
        }
    }

    /// Makes the problem of a query's error, or of the reason why the query was stopped.
    ///
    /// - Parameters:
    ///   - error: The error of the query engine.
    ///   - names: The request parameters that the parts of the query were read from.
    ///   - budget: The budget of the request, which knows why it stopped the query.
    package init(_ error: QueryError, in names: QueryPartNames, _ budget: WorkBudget) {
        guard case .cancelled = error else {
            self.init(error, in: names)
            return
        }
        self.init(budget.stop ?? .expired)
    }

    /// Returns the end of the error text about a key path of `sort` that ends or begins with a direction, in the way of other
    /// languages; empty for other paths.
    private static func directionHint(_ path: String) -> String {
        let words = path.split { $0 == " " || $0 == ":" }
        if words.count == 2, let direction = words.last?.lowercasedASCII {
            switch direction {
            case "desc", "descending", "-1": return "; a minus makes an order descend: sort=-\(String(words[0]).truncated)"
            case "asc", "ascending", "1": return "; an order ascends without a word: sort=\(String(words[0]).truncated)"
            default: break
            }
        }
        guard path.hasPrefix("+") || path.hasPrefix(" ") else { return "" }
        return "; an order ascends without a sign: sort=\(String(path.dropFirst()).truncated)"
    }

    /// Runs a closure that uses the query engine, and converts its error into a problem.
    ///
    /// - Parameters:
    ///   - parameter: The request parameter that the query text came from; it is named in the
    ///     problem.
    ///   - body: The work; it is called once, on the calling thread.
    /// - Returns: The result of `body`.
    /// - Throws: The problem made of the `QueryError` that `body` throws.
    package static func querying<Result>(
        _ parameter: String = "where", _ body: () throws(QueryError) -> Result
    ) throws(Problem) -> Result {
        do throws(QueryError) { return try body() } catch { throw Problem(error, parameter: parameter) }
    }
}
