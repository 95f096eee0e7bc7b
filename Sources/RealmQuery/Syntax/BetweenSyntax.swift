// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A `BETWEEN` comparison with both of its limits. Whether there are exactly two is checked when
/// the query is bound.
struct BetweenSyntax: Sendable {
    /// The left side of `BETWEEN`, which has to lie within the limits.
    let value: ExpressionSyntax
    /// The list on the right side: the least and the greatest value, both included.
    let limits: ListSyntax
    /// The bytes of the query text that the word `BETWEEN` covers, for the positions of errors.
    let operatorRange: Range<Int>
}
