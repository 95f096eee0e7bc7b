// SPDX-License-Identifier: Apache-2.0

/// The two ways in which NaN can take part in a comparison.
package enum RealOrder: Sendable {
    /// By IEEE 754: unequal to everything, itself included, and unordered.
    case ieee
    /// Below every number and equal to an identical NaN.
    case general
}
