// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

indirect enum ExpressionSyntax: Sendable {
    case constant(ConstantSyntax)
    case property(PropertySyntax)
    case list(ListSyntax)
    case aggregate(AggregateSyntax)
    case subquery(SubquerySyntax)
    case operation(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax, Range<Int>)

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
