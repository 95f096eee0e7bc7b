// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The outcome of an aggregate, such as a sum, over a whole result.
package enum AggregateResult: Sendable {
    /// The value. It is null when there was nothing to combine, except that a sum of nothing is 0.
    case value(Value)
    /// The exact sum of integers does not fit into 64 bits, so there is no value.
    case overflow
}
