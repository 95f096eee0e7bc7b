// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// The result of an aggregate over a whole result.
package enum AggregateResult: Sendable {
    /// The value. It is null when there was nothing to combine, except that a sum of nothing is 0.
    case value(Value)
    /// The sum of integers does not fit into 64 bits.
    case overflow
}
