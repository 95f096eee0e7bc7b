// SPDX-License-Identifier: Apache-2.0

/// The stacks of an operator-precedence parser for one predicate.
struct PredicateStack {
    enum Operand {
        case predicate(PredicateSyntax)
        /// `isValue` is false behind parentheses and arithmetic, which string operators do not take.
        case expression(ExpressionSyntax, isValue: Bool)
    }

    enum Frame {
        /// `allowsPredicate` is false where only arithmetic may stand.
        case parenthesis(allowsPredicate: Bool)
        case not
        /// How many operands wait on the operand stack.
        case and(Int)
        case or(Int)
        case comparison(QueryOperator, ignoresCase: Bool, Range<Int>)
        case arithmetic(ArithmeticOperator)
    }

    var operands: [(operand: Operand, depth: Int)] = []
    var frames: [Frame] = []

    /// May a predicate start here?
    var allowsPredicate: Bool {
        switch frames.last {
        case nil, .not, .and, .or, .parenthesis(allowsPredicate: true): return true
        case .comparison, .arithmetic, .parenthesis(allowsPredicate: false): return false
        }
    }
}
