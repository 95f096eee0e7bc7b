// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Everything that can go wrong between the text of a query and its result.
///
/// Positions are zero-based offsets in Unicode scalars of the query text.
package enum QueryError: Error, Sendable, Equatable {
    /// The text is no query. At the end of the input `position` is the length of the text.
    case syntax(position: Int, detail: String, expected: [String], part: Part = .text)
    /// The query does not fit the schema or its arguments. `culprit` names the key path or argument.
    case invalid(Invalid, detail: String, culprit: String?, position: Int?, part: Part = .text)
    /// The file could not be read.
    case storage(StorageError)
    /// The caller's check asked to stop.
    case cancelled

    /// The part of a request that an error is about.
    package enum Part: Sendable, Hashable {
        /// The text of the query, its descriptors included.
        case text
        /// The argument that the text calls `$n`.
        case argument(Int)
        /// The sort key at an index of the `ResultOrder` that a caller added.
        case sort(Int)
        /// The distinct path at an index of that `ResultOrder`.
        case distinct(Int)
    }

    /// The part of the request that is at fault; nil when none is.
    package var part: Part? {
        switch self {
        case .syntax(_, _, _, let part), .invalid(_, _, _, _, let part): return part
        case .storage, .cancelled: return nil
        }
    }

    /// The same error as one about `part`.
    func about(_ part: Part) -> QueryError {
        switch self {
        case .syntax(let position, let detail, let expected, _):
            return .syntax(position: position, detail: detail, expected: expected, part: part)
        case .invalid(let kind, let detail, let culprit, let position, _):
            return .invalid(kind, detail: detail, culprit: culprit, position: position, part: part)
        case .storage, .cancelled: return self
        }
    }

    /// What kind of misfit an invalid query has.
    package enum Invalid: String, Sendable, Hashable {
        case unknownProperty = "unknown_property"
        case typeMismatch = "type_mismatch"
        case structure
        case argument
        case geospatial
        case alias
    }

    /// The two categories that a client tells apart.
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
