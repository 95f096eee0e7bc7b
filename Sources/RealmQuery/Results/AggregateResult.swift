// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

package enum AggregateResult: Sendable {
    /// Null when nothing was left to aggregate; a sum of nothing is 0.
    case value(Value)
    /// The sum of integers does not fit into 64 bits.
    case overflow
}
