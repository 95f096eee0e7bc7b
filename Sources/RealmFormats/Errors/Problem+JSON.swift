// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Problem {
    /// Makes the problem for a request body, or another text of the client, that could not be read as JSON.
    ///
    /// An empty or malformed text and one that nests too deeply are `invalid_json`; too many values are `body_too_large` with the
    /// limit and the byte offset; text that the caller had no memory for is `overloaded`.
    ///
    /// - Parameter error: The error of the JSON parser.
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

    /// Runs a closure that parses JSON, and converts a parser error into a problem.
    ///
    /// - Parameter body: The parsing; it is called once, on the calling thread.
    /// - Returns: The result of `body`.
    /// - Throws: The problem made of the `JSONError` that `body` throws.
    package static func parsing<Result>(_ body: () throws(JSONError) -> Result) throws(Problem) -> Result {
        do throws(JSONError) { return try body() } catch { throw Problem(error) }
    }
}
