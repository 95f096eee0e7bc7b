// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A predicate: a condition that an object either fulfils or does not.
///
/// It is the tree that the parser makes. Chains of `AND` and of `OR` are flat, so the depth of a
/// tree is bounded by `Parser.maximumDepth`. In all nodes, ranges are byte offsets into the query
/// text.
indirect enum PredicateSyntax: Sendable {
    /// The predicate `TRUEPREDICATE` or `FALSEPREDICATE`, which holds for all objects or for none.
    case constant(Bool)
    /// A chain of `AND`: all of its parts have to hold. It has at least two.
    case and([PredicateSyntax])
    /// A chain of `OR`: at least one of its parts has to hold. It has at least two.
    case or([PredicateSyntax])
    /// The negation of a predicate.
    case not(PredicateSyntax)
    /// Two operands that an operator compares.
    case comparison(ComparisonSyntax)
    /// A test whether a value lies within two limits.
    case between(BetweenSyntax)
    /// A test whether locations lie within a shape.
    case geoWithin(GeoWithinSyntax)
}
