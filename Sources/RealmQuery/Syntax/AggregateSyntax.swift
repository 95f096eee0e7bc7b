// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The minimum, maximum, sum or mean of a collection, or of a property of the objects that a path
/// reaches.
struct AggregateSyntax: Sendable {
    /// The path to the collection, or to the linked objects.
    let path: PathSyntax
    /// The way in which the values of the collection are combined.
    let aggregate: AggregateOperator
    /// The property of the linked objects whose values are combined; nil for a collection of
    /// values.
    let property: String?
    /// The bytes of the query text that the whole aggregate covers.
    let range: Range<Int>
}
