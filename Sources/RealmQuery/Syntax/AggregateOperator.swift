// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A way to combine the values of a collection into one. The raw values are the spellings in a query.
enum AggregateOperator: String, Sendable {
    /// The least value of the collection; null when it has no value.
    case min = "@min"
    /// The greatest value of the collection; null when it has no value.
    case max = "@max"
    /// The sum of the numbers of the collection; 0 when it has none.
    case sum = "@sum"
    /// The arithmetic mean of the numbers of the collection; null when it has none.
    case average = "@avg"
}
