// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A comparison of two operands by one operator.
struct ComparisonSyntax: Sendable {
    /// The operand before the operator.
    let left: ExpressionSyntax
    /// The operator.
    let comparison: QueryOperator
    /// Whether `[c]` follows the operator.
    let ignoresCase: Bool
    /// The operand after the operator.
    let right: ExpressionSyntax
    /// The bytes of the text that the operator covers, for the positions of errors.
    let operatorRange: Range<Int>
}
