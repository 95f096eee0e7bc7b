// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A predicate: a condition that an object either fulfils or does not.
///
/// It is the tree that the parser makes. Chains of `AND` and of `OR` are flat, so the depth of a
/// tree is bounded by `Parser.maximumDepth`. In all nodes, ranges are byte offsets into the query
/// text.
indirect enum PredicateSyntax: Sendable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    /// All of the predicates hold; there are at least two.
    case and([PredicateSyntax])
    /// At least one of the predicates holds; there are at least two.
    case or([PredicateSyntax])
    /// The predicate does not hold.
    case not(PredicateSyntax)
    /// Two operands and an operator.
    case comparison(ComparisonSyntax)
    /// A value within two limits.
    case between(BetweenSyntax)
    /// Locations within a shape.
    case geoWithin(GeoWithinSyntax)
}
