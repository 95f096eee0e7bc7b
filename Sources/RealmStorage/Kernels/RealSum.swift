// SPDX-License-Identifier: Apache-2.0

/// A running sum of numbers that are neither null nor NaN, with their count.
///
/// Numbers are added in the order of their rows and in double precision, so that a sum does not
/// depend on how rows are spread over leaves, and equals the reference engine's to the last bit.
package struct RealSum: Sendable {
    /// The sum of the numbers so far, in double precision.
    package var sum: Double = 0
    /// How many numbers were added so far, for an average.
    package var count = 0

    /// Makes an empty sum, to which numbers can be added.
    package init() {}

    /// Makes a sum of numbers that were added already.
    init(sum: Double, count: Int) {
        self.sum = sum
        self.count = count
    }

    /// Adds the numbers of another sum.
    package mutating func add(_ other: RealSum) {
        sum += other.sum
        count += other.count
    }

    /// The average, or nil when nothing was added.
    package var average: Double? { count == 0 ? nil : sum / Double(count) }
}
