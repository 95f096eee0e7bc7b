// SPDX-License-Identifier: Apache-2.0

extension Problem {
    /// A text that is not the JSON that was needed.
    package init(_ error: JSONError) {
        switch error {
        case .empty, .malformed: self = Problem(.invalidJSON, error.description)
        case .tooManyValues(let limit, let offset):
            self = .overLimit(.bodyTooLarge, error.description, limit: limit)
                .with("limitName", "json-values").with("offset", .integer(Int64(offset)))
        case .tooDeep(_, let limit): self = .overLimit(.invalidJSON, error.description, limit: limit)
        case .unwanted: self = Problem(.overloaded, error.description)
        }
    }

    /// Runs something that parses JSON.
    package static func parsing<Result>(_ body: () throws(JSONError) -> Result) throws(Problem) -> Result {
        do throws(JSONError) {
            return try body()
        } catch {
            throw Problem(error)
        }
    }
}
