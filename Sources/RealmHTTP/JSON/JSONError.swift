// SPDX-License-Identifier: Apache-2.0

/// Why a text was not read as JSON.
///
/// The parser knows no HTTP: a `Problem` is made of this where a request is answered.
package enum JSONError: Error, Equatable, Sendable {
    /// There is no text at all.
    case empty
    /// More values than `limit`; `offset` is the byte at which the first one too many begins.
    case tooManyValues(limit: Int, offset: Int)
    /// Arrays and objects are nested `depth` levels deep, and at most `limit` are allowed.
    case tooDeep(depth: Int, limit: Int)
    /// The text breaks the grammar of JSON, or is not valid UTF-8. Line and column count from 1.
    case malformed(line: Int, column: Int, reason: String)
    /// The caller did not want as many values as the text has.
    case unwanted
}

extension JSONError: CustomStringConvertible {
    /// A clause for people, without a full stop.
    package var description: String {
        switch self {
        case .empty: return "the body is empty where JSON is needed"
        case .tooManyValues(let limit, _): return "JSON of more than \(limit) values"
        case .tooDeep(let depth, let limit): return "JSON nested \(depth) levels deep; at most \(limit) are allowed"
        case .malformed(let line, let column, let reason): return "line \(line), column \(column): \(reason)"
        case .unwanted: return "JSON of more values than there is memory for"
        }
    }
}
