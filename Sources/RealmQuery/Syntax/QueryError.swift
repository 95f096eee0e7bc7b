// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// An error on the way from the text of a query to its result.
///
/// A faulty query is either a `syntax` or an `invalid` error; the other two cases are not the fault of the query. Positions are
/// zero-based offsets in Unicode scalars of the query text, not in bytes, so that an editor can place its cursor there.
package enum QueryError: Error, Sendable, Equatable {
    /// The text is not a query. `position` is the offset of the offending token, or the length of the text when it ends too
    /// early; `detail` is a sentence for people, and `expected` lists what could have followed instead.
    case syntax(position: Int, detail: String, expected: [String], part: Part = .text)
    /// The query does not fit the schema or its arguments. `culprit` is the key path, the operator or the argument as written
    /// in the text, and `position` its offset; both are nil when there is no such place.
    case invalid(Invalid, detail: String, culprit: String?, position: Int?, part: Part = .text)
    /// The file could not be read, for example because it is damaged, or a limit of the storage layer was exceeded.
    case storage(StorageError)
    /// The caller's cancellation check asked to stop. There is no partial result.
    case cancelled

    /// The part of a request that an error is about. Besides the text of the query, a request can have arguments, sort keys and
    /// distinct paths of its own, and a client needs to know which of them to correct.
    package enum Part: Sendable, Hashable {
        /// The text of the query, its `SORT`, `DISTINCT` and `LIMIT` clauses included.
        case text
        /// The argument that the text refers to as `$n`, by its zero-based number.
        case argument(Int)
        /// The sort key at this zero-based index of the `ResultOrder` that a caller added.
        case sort(Int)
        /// The distinct path at this zero-based index of the `ResultOrder` that a caller added.
        case distinct(Int)
        /// The key path at this zero-based index by which a caller groups the result.
        case group(Int)
    }

    /// The part of the request that is at fault; nil for storage errors and for cancellation, where none is.
    package var part: Part? {
        switch self {
        case .syntax(_, _, _, let part), .invalid(_, _, _, _, let part): return part
        case .storage, .cancelled: return nil
        }
    }

    /// Returns the same error, attributed to another part of the request.
    ///
    /// - Returns: A copy with `part` replaced. Storage errors and cancellation are returned as they
    ///   are.
    func about(_ part: Part) -> QueryError {
        switch self {
        case .syntax(let position, let detail, let expected, _):
            return .syntax(position: position, detail: detail, expected: expected, part: part)
        case .invalid(let kind, let detail, let culprit, let position, _):
            return .invalid(kind, detail: detail, culprit: culprit, position: position, part: part)
        case .storage, .cancelled: return self
        }
    }

    /// The reason why a well-formed query does not fit the schema or its arguments. Callers choose the problem code by it.
    package enum Invalid: String, Sendable, Hashable {
        /// A key path, `obj()` or `@links` names a class or a property that does not exist.
        case unknownProperty = "unknown_property"
        /// Two types cannot be compared, or an operator is not defined for a type.
        case typeMismatch = "type_mismatch"
        /// The parts of the query do not go together, for example `IN` without a list, a quantifier
        /// on a path with a single value, or a comparison of two constants.
        case structure
        /// An argument is missing or has the wrong kind, or the constants of the query are too many or too long.
        case argument
        /// A shape is not valid, or the left side of `geoWithin` is not a link to a location.
        case geospatial
        /// The aliases of property or class names form a loop.
        case alias
    }

    /// The two categories of faulty queries: text that cannot be parsed, and a query that does not fit the schema or its
    /// arguments. The raw values are those by which the conformance vectors name expected errors.
    package enum Category: String, Sendable { case syntax, invalid }

    /// The category of a faulty query; nil when the query is not at fault.
    package var category: Category? {
        switch self {
        case .syntax: return .syntax
        case .invalid: return .invalid
        case .storage, .cancelled: return nil
        }
    }
}

extension QueryError: CustomStringConvertible {
    /// The error as one sentence in English, with the position of a syntax error. It may quote parts of the query.
    package var description: String {
        switch self {
        case .syntax(let position, let detail, let expected, _):
            let wanted = expected.isEmpty ? "" : ", expected " + expected.joined(separator: " or ")
            return "syntax error at \(position): \(detail)\(wanted)"
        case .invalid(_, let detail, _, _, _): return "invalid query: \(detail)"
        case .storage(let error): return error.description
        case .cancelled: return "the query was cancelled"
        }
    }
}
