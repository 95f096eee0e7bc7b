// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The two stacks of an operator-precedence parser for one predicate: operands, and the operators
/// and parentheses that wait for one.
struct PredicateStack {
    /// A finished part of the tree that waits for the operator it belongs to.
    enum Operand {
        /// A complete predicate, to which `AND`, `OR` and `NOT` apply.
        case predicate(PredicateSyntax)
        /// An operand of a comparison or of arithmetic. `isValue` is false after parentheses and
        /// arithmetic, which string operators do not take.
        case expression(ExpressionSyntax, isValue: Bool)
    }

    /// An opening parenthesis or an operator that waits for its last operand.
    enum Frame {
        /// An opening parenthesis. `allowsPredicate` is false where only arithmetic is allowed.
        case parenthesis(allowsPredicate: Bool)
        /// A `NOT` that waits for the predicate after it.
        case not
        /// A chain of `AND`s, with the number of complete operands that wait on the operand stack.
        case and(Int)
        /// A chain of `OR`s, with the number of complete operands that wait on the operand stack.
        case or(Int)
        /// A comparison operator, whether `[c]` follows it, and its range in bytes of the text.
        case comparison(QueryOperator, ignoresCase: Bool, Range<Int>)
        /// An arithmetic operator that waits for its right operand.
        case arithmetic(ArithmeticOperator)
    }

    /// The finished operands, each with its nesting depth, the last one on top.
    var operands: [(operand: Operand, depth: Int)] = []
    /// The waiting operators and parentheses, the innermost one on top.
    var frames: [Frame] = []

    /// Whether a predicate may start at the current token. Inside arithmetic or on the right side
    /// of a comparison only a value may.
    var allowsPredicate: Bool {
        switch frames.last {
        case nil, .not, .and, .or, .parenthesis(allowsPredicate: true): return true
        case .comparison, .arithmetic, .parenthesis(allowsPredicate: false): return false
        }
    }
}
