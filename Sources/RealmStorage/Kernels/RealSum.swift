// SPDX-License-Identifier: Apache-2.0

/// The running sum of numbers that are neither null nor NaN.
///
/// Numbers are added one after the other in row order and in double precision, so that a sum does not depend on how
/// rows are spread over leaves, and equals the reference engine's to the last bit.
package struct RealSum: Sendable {
    /// The sum in double precision.
    package var sum: Double = 0
    /// How many numbers were added.
    package var count = 0

    /// The sum of nothing.
    package init() {}

    /// The average, or nil when nothing was added.
    package var average: Double? { count == 0 ? nil : sum / Double(count) }
}
