// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An operand of a comparison as the parser sees it: a value, or arithmetic on values.
indirect enum ExpressionSyntax: Sendable {
    /// A literal or an argument as an operand.
    case constant(ConstantSyntax)
    /// A key path as an operand, with its quantifier and its suffix.
    case property(PropertySyntax)
    /// A list of constants in braces as an operand.
    case list(ListSyntax)
    /// The minimum, maximum, sum or mean of a collection as an operand.
    case aggregate(AggregateSyntax)
    /// The number of linked objects that fulfil a predicate as an operand.
    case subquery(SubquerySyntax)
    /// An arithmetic operator with its left and right side, and the bytes of the text that all of
    /// it covers.
    case operation(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax, Range<Int>)

    /// The bytes of the query text that the expression covers, for labels and for the positions of
    /// errors.
    var range: Range<Int> {
        switch self {
        case .constant(let constant): return constant.range
        case .property(let property): return property.range
        case .list(let list): return list.range
        case .aggregate(let aggregate): return aggregate.range
        case .subquery(let subquery): return subquery.range
        case .operation(_, _, _, let range): return range
        }
    }
}
