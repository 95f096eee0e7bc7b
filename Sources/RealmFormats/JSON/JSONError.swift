// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The reason why a text could not be read as JSON.
///
/// The parser does not depend on HTTP: where a request is answered, a `Problem` is made of this error.
package enum JSONError: Error, Equatable, Sendable {
    /// The text has no bytes at all.
    case empty
    /// The text has more values than `limit`; the first one in excess begins before or at the byte `offset`, counted from 0.
    case tooManyValues(limit: Int, offset: Int)
    /// Arrays and objects are nested `depth` levels deep, where at most `limit` are allowed.
    case tooDeep(depth: Int, limit: Int)
    /// The text breaks the grammar of JSON, repeats a member name, or is not valid UTF-8. `line`
    /// and `column` count from 1 and are where the parser noticed it; `reason` is its description.
    case malformed(line: Int, column: Int, reason: String)
    /// The caller of the parser rejected the number of values, for want of memory.
    case unwanted
}

extension JSONError: CustomStringConvertible {
    /// The error as a clause for people, without a full stop.
    package var description: String {
        switch self {
        case .empty: return "the body is empty; expected JSON"
        case .tooManyValues(let limit, _): return "the JSON has more than \(limit) values"
        case .tooDeep(let depth, let limit): return "the JSON is nested \(depth) levels deep; at most \(limit) are allowed"
        case .malformed(let line, let column, let reason): return "line \(line), column \(column): \(reason)"
        case .unwanted: return "the JSON has more values than there is memory for"
        }
    }
}
