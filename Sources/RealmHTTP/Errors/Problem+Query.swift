// SPDX-License-Identifier: Apache-2.0

package import RealmQuery

extension Problem {
    /// What a query in `parameter` did wrong, or what happened while it ran.
    package init(_ error: QueryError, parameter: String) {
        switch error {
        case .syntax(let position, _, _):
            self = Problem(.invalidQuery, error.description)
                .with("parameter", parameter).with("position", .integer(Int64(position)))
        case .invalid(let kind, _, _, let position):
            let problem = Problem(kind == .unknownProperty ? .unknownKeyPath : .invalidQuery, error.description)
                .with("parameter", parameter)
            self = position.map { problem.with("position", .integer(Int64($0))) } ?? problem
        case .storage(let error): self = Problem(serving: error)
        case .cancelled: self = Problem(.deadlineExceeded, "the request took longer than the server allows")
        }
    }

    /// Runs something of the query engine for the text in `parameter`.
    package static func querying<Result>(
        _ parameter: String = "where", _ body: () throws(QueryError) -> Result
    ) throws(Problem) -> Result {
        do throws(QueryError) {
            return try body()
        } catch {
            throw Problem(error, parameter: parameter)
        }
    }
}
