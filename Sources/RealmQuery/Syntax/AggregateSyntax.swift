// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

struct AggregateSyntax: Sendable {
    let path: PathSyntax
    let aggregate: AggregateOperator
    /// The property of the linked objects that is aggregated.
    let property: String?
    let range: Range<Int>
}
