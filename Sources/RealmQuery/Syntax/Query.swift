// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A parsed query: a predicate, and the descriptors that reorder and prune its matches.
///
/// It is the result of the first of three stages. Parsing needs no schema; the names and the types are checked when the query
/// is bound to a class of a snapshot, which gives a `BoundQuery`. A `Query` is an immutable value: it can be kept, shared
/// between threads and bound any number of times.
package struct Query: Sendable {
    /// The text that the query was parsed from, exactly as the client sent it. Positions and ranges in the tree refer to it.
    package let text: String
    /// The condition that an object of the result fulfils.
    let predicate: PredicateSyntax
    /// The `SORT`, `DISTINCT` and `LIMIT` clauses after the predicate, in the order in which they are written and applied.
    let descriptors: [DescriptorSyntax]

    /// Parses the text of a query.
    ///
    /// - Parameter text: A predicate, followed by any number of descriptors. It must not be empty:
    ///   the query for all objects is `TRUEPREDICATE`.
    /// - Returns: The parsed query.
    /// - Throws: `QueryError.syntax` with the position of the first token that does not fit, never
    ///   another error.
    /// - Complexity: O(length of the text).
    package static func parse(_ text: String) throws(QueryError) -> Query {
        var parser = try Parser(text)
        let (predicate, descriptors) = try parser.parseQuery()
        return Query(text: text, predicate: predicate, descriptors: descriptors)
    }

    /// The query without descriptors that matches every object of a class.
    package static let all = Query(text: "TRUEPREDICATE", predicate: .constant(true), descriptors: [])
}

extension Query {
    /// Whether the text itself contains `SORT`, `DISTINCT` or `LIMIT`.
    package var hasDescriptors: Bool { !descriptors.isEmpty }
}

extension Query {
    /// Remarks about parts that mean something else than they seem to, which an explanation of the query shows. They are no errors:
    /// the query does what it says.
    package var notes: [String] { Query.notes(on: predicate) }

    /// Returns the remarks about a predicate. Its recursion is as deep as the tree, which the parser bounds.
    private static func notes(on predicate: PredicateSyntax) -> [String] {
        switch predicate {
        case .not(let inner): return notes(on: inner)
        case .and(let children), .or(let children): return children.flatMap { notes(on: $0) }
        case .comparison(let comparison):
            guard comparison.comparison == .like, case .constant(let constant) = comparison.right,
                case .string(let bytes) = constant.kind,
                bytes.contains(UInt8(ascii: "%")), !bytes.contains(UInt8(ascii: "*"))
            else { return [] }
            return ["LIKE takes * for any characters and ? for one; '%' is an ordinary character"]
        case .constant, .between, .geoWithin: return []
        }
    }
}
