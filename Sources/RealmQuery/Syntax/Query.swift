// SPDX-License-Identifier: Apache-2.0

/// A parsed query: a predicate and the descriptors that reorder and prune its matches. Knows no schema.
package struct Query: Sendable {
    /// The text it was parsed from.
    package let text: String
    let predicate: PredicateSyntax
    let descriptors: [DescriptorSyntax]

    /// Parses `text`; throws `.syntax` only.
    package static func parse(_ text: String) throws(QueryError) -> Query {
        var parser = try Parser(text)
        let (predicate, descriptors) = try parser.parseQuery()
        return Query(text: text, predicate: predicate, descriptors: descriptors)
    }

    /// Matches every object.
    package static let all = Query(text: "TRUEPREDICATE", predicate: .constant(true), descriptors: [])
}

extension Query {
    /// Whether the text itself says `SORT`, `DISTINCT` or `LIMIT`.
    package var hasDescriptors: Bool { !descriptors.isEmpty }
}
