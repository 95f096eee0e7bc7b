// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A predicate: a condition that an object either fulfils or does not.
///
/// It is the tree that the parser makes. Chains of `AND` and of `OR` are flat, so the depth of a tree is bounded by
/// `Parser.maximumDepth`. In all nodes, ranges are byte offsets into the query text.
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
    case comparison(PredicateSyntax.Comparison)
    /// A test whether a value lies within two limits.
    case between(PredicateSyntax.Between)
    /// A test whether locations lie within a shape.
    case geoWithin(PredicateSyntax.GeoWithin)
}

extension PredicateSyntax {
    /// A comparison of two operands by one operator, such as `age > 21`.
    struct Comparison: Sendable {
        /// The operand before the comparison operator.
        let left: ExpressionSyntax
        /// The operator that compares the two operands.
        let comparison: QueryOperator
        /// Whether the case modifier `[c]` follows the operator, so that letter case does not count.
        let ignoresCase: Bool
        /// The operand after the comparison operator.
        let right: ExpressionSyntax
        /// The bytes of the query text that the operator covers, for the positions of errors.
        let operatorRange: Range<Int>
    }
}

extension PredicateSyntax {
    /// A `BETWEEN` comparison with both of its limits. Whether there are exactly two is checked when the query is bound.
    struct Between: Sendable {
        /// The left side of `BETWEEN`, which has to lie within the limits.
        let value: ExpressionSyntax
        /// The list on the right side: the least and the greatest value, both included.
        let limits: ExpressionSyntax.List
        /// The bytes of the query text that the word `BETWEEN` covers, for the positions of errors.
        let operatorRange: Range<Int>
    }
}

extension PredicateSyntax {
    /// A comparison with `geoWithin`: a test whether locations lie within a shape.
    struct GeoWithin: Sendable {
        /// The right side of `geoWithin`: a shape, or the argument that holds one.
        enum Region: Sendable {
            /// A shape that is written in the text of the query.
            case shape(ShapeSyntax)
            /// The number of an argument that holds a shape, or the text of one.
            case argument(Int)
        }

        /// The left side of `geoWithin`: the path to the links that lead to locations.
        let property: ExpressionSyntax.Property
        /// The right side of `geoWithin`: the shape, or the argument that holds it.
        let region: Region
        /// The bytes of the query text that the right side of `geoWithin` covers.
        let regionRange: Range<Int>
    }
}
