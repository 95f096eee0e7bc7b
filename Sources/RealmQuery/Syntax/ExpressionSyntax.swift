// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An operand of a comparison as the parser sees it: a value, or arithmetic on values.
indirect enum ExpressionSyntax: Sendable {
    /// A literal or an argument as an operand.
    case constant(ConstantSyntax)
    /// A key path as an operand, with its quantifier and its suffix.
    case property(ExpressionSyntax.Property)
    /// A list of constants in braces as an operand.
    case list(ExpressionSyntax.List)
    /// The minimum, maximum, sum or mean of a collection as an operand.
    case aggregate(ExpressionSyntax.Aggregate)
    /// The number of linked objects that fulfil a predicate as an operand.
    case subquery(ExpressionSyntax.Subquery)
    /// An arithmetic operator with its left and right side, and the bytes of the text that all of it covers.
    case operation(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax, Range<Int>)

    /// The bytes of the query text that the expression covers, for labels and for the positions of errors.
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

extension ExpressionSyntax {
    /// A key path as an operand, with its quantifier and its suffix operator.
    struct Property: Sendable {
        /// A suffix that replaces the values of the path: `count` by their length or number, `type` by
        /// the names of their types.
        enum Postfix: Sendable { case count, type }

        /// The quantifier `ANY`, `ALL` or `NONE` before the path, if there is one.
        let quantifier: Quantifier?
        /// The key path, without the quantifier before it and the suffix after it.
        let path: PathSyntax
        /// The suffix operator; nil when the values themselves are compared.
        let postfix: Postfix?
        /// The bytes of the query text that the path covers, with its quantifier and its suffix.
        let range: Range<Int>
    }
}

extension ExpressionSyntax {
    /// A list literal: constants in braces with commas between them, possibly none.
    struct List: Sendable {
        /// The quantifier `ANY`, `ALL` or `NONE` before the list, if there is one.
        let quantifier: Quantifier?
        /// The elements in the order of the text; they may be of different types.
        let elements: [ConstantSyntax]
        /// The bytes of the text that the list covers, its quantifier included.
        let range: Range<Int>
    }
}

extension ExpressionSyntax {
    /// The minimum, maximum, sum or mean of a collection, or of a property of the objects that a path reaches.
    struct Aggregate: Sendable {
        /// The path to the collection, or to the linked objects.
        let path: PathSyntax
        /// The way in which the values of the collection are combined.
        let aggregate: AggregateOperator
        /// The property of the linked objects whose values are combined; nil for a collection of values.
        let property: String?
        /// The bytes of the query text that the whole aggregate covers.
        let range: Range<Int>
    }
}

extension ExpressionSyntax {
    /// `SUBQUERY(path, $variable, predicate).@count`: the number of linked objects that fulfil a predicate.
    struct Subquery: Sendable {
        /// The key path to the linked objects that the subquery counts.
        let path: PathSyntax
        /// The name by which the predicate refers to a linked object, with its dollar sign.
        let variable: String
        /// The condition that a linked object has to fulfil to be counted.
        let predicate: PredicateSyntax
        /// The bytes of the text that the whole subquery covers, its suffix included.
        let range: Range<Int>
    }
}
