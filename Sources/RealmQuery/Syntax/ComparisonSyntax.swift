// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

struct ComparisonSyntax: Sendable {
    let left: ExpressionSyntax
    let comparison: QueryOperator
    let ignoresCase: Bool
    let right: ExpressionSyntax
    /// Where the operator stands.
    let operatorRange: Range<Int>
}
