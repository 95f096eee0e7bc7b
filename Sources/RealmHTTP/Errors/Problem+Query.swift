// SPDX-License-Identifier: Apache-2.0

package import RealmQuery

extension Problem {
    /// What a query in `parameter` did wrong, or what happened while it ran.
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

    /// What a query did wrong whose parts come from different parameters. Positions mean nothing outside of its text.
    package init(_ error: QueryError, in names: QueryPartNames) {
        guard let name = names.orderName(of: error.part) else {
            self.init(error, parameter: names.text)
            return
        }
        switch error {
        case .syntax(_, let detail, _, _):
            self = Problem(.invalidQuery, "no key path: \(detail)").with("parameter", name)
        case .invalid(let kind, let detail, _, _, _):
            self = Problem(kind == .unknownProperty ? .unknownKeyPath : .invalidQuery, detail).with("parameter", name)
        case .storage, .cancelled: self.init(error, parameter: name)
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
