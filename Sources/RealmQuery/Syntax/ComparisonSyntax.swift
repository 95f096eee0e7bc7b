// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A comparison of two operands by one operator, such as `age > 21`.
struct ComparisonSyntax: Sendable {
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
