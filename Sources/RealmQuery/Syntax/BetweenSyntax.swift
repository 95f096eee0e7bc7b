// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

struct BetweenSyntax: Sendable {
    let value: ExpressionSyntax
    let limits: ListSyntax
    let operatorRange: Range<Int>
}
