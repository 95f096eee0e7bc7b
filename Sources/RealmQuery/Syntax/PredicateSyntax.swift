// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

// The tree that the parser makes. Ranges are byte offsets into the query text.

/// A predicate. Chains of `AND` and of `OR` are flat, so the depth of a tree is bounded by `Parser.maximumDepth`.
indirect enum PredicateSyntax: Sendable {
    case constant(Bool)
    case and([PredicateSyntax])
    case or([PredicateSyntax])
    case not(PredicateSyntax)
    case comparison(ComparisonSyntax)
    case between(BetweenSyntax)
    case geoWithin(GeoWithinSyntax)
}
