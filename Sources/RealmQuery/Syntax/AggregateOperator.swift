// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A way to combine the values of a collection into one. The raw values are the spellings in a
/// query.
enum AggregateOperator: String, Sendable {
    /// The least value; null when there is none.
    case min = "@min"
    /// The greatest value; null when there is none.
    case max = "@max"
    /// The sum of the numbers; 0 when there is none.
    case sum = "@sum"
    /// The arithmetic mean of the numbers; null when there is none.
    case average = "@avg"
}
