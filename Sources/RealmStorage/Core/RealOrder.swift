// SPDX-License-Identifier: Apache-2.0

/// The two ways in which NaN can take part in a comparison.
///
/// Queries compare by IEEE 754 where the reference engine does, and use the general order for sorting, for sets and wherever
/// numbers of different types meet. Null takes part in neither.
package enum RealOrder: Sendable {
    /// NaN as in IEEE 754: unequal to everything, itself included, and unordered.
    case ieee
    /// NaN below every number and equal to an identical NaN.
    case general
}
