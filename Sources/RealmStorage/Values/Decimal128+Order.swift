// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Order, equality and hashes by value.
extension Decimal128 {
    /// Returns a negative number, zero or a positive number when this number sorts before, with or after `other`.
    ///
    /// The order is total: NaNs come first, among themselves by high word, then low word; all others by value, so 1.0 and 1.00
    /// are equal and so are 0 and -0. It is the order of sets in the file. Source: docs/format.md, "Sets".
    package func compare(_ other: Decimal128) -> Int {
        if isNaN || other.isNaN { return compareNaN(other) }
        let isBelowZero = isNegative && !isZero
        let otherIsBelowZero = other.isNegative && !other.isZero
        guard isBelowZero == otherIsBelowZero else { return isBelowZero ? -1 : 1 }
        let order = compareMagnitude(other)
        return isBelowZero ? -order : order
    }

    /// Returns whether both are equal by value, or the very same NaN.
    ///
    /// 1.0 and 1.00 are equal, and so are 0 and -0. Unlike in IEEE 754 a NaN equals itself.
    package func isEqual(to other: Decimal128) -> Bool { compare(other) == 0 }

    /// Compares two numbers of which one is a NaN at least: NaNs come first, ordered by their bits.
    private func compareNaN(_ other: Decimal128) -> Int {
        guard isNaN && other.isNaN else { return isNaN ? -1 : 1 }
        return high != other.high ? (high < other.high ? -1 : 1) : (low < other.low ? -1 : low > other.low ? 1 : 0)
    }

    /// Compares the magnitudes, without regard to the signs.
    private func compareMagnitude(_ other: Decimal128) -> Int {
        guard isFinite, other.isFinite else { return (isFinite ? 0 : 1) - (other.isFinite ? 0 : 1) }
        let left = coefficient
        let right = other.coefficient
        let shift = exponent - other.exponent
        if shift == 0 || left == 0 || right == 0 { return left < right ? -1 : left > right ? 1 : 0 }
        return shift > 0
            ? Decimal128.compare(left, shiftedBy: shift, with: right)
            : -Decimal128.compare(right, shiftedBy: -shift, with: left)
    }

    /// Compares `left` × 10^`shift` with `right`; both are coefficients above 0, and `shift` is positive.
    private static func compare(_ left: UInt128, shiftedBy shift: Int, with right: UInt128) -> Int {
        guard shift < maximumDigitCount else { return 1 }
        let (product, overflow) = left.multipliedReportingOverflow(by: PowersOfTen.values[shift])
        if overflow { return 1 }
        return product < right ? -1 : product > right ? 1 : 0
    }

    /// The limit below which whole numbers are hashed as `Int64`, as integers and doubles are too.
    static let hashedWholeNumberLimit: UInt64 = 1_000_000_000_000_000

    /// Feeds a hash that is the same for equal numbers, whatever their exponents.
    ///
    /// Of a finite number the first 15 significant digits are hashed, rounded, so that a double has
    /// the same hash as the decimal that it equals (see `init(_: Double)`).
    package func hashNumerically(into hasher: inout Hasher) {
        guard isFinite else { return hasher.combine(isNaN ? 2 : isNegative ? -1 : 1) }
        var (digits, power) = leadingDigits
        guard digits != 0 else { return hasher.combine(Int64(0)) }
        while digits % 10 == 0 {
            digits /= 10
            power += 1
        }
        if power >= 0, let whole = Decimal128.wholeNumber(digits, power) {
            return hasher.combine(isNegative ? -whole : whole)
        }
        hasher.combine(digits)
        hasher.combine(Int16(truncatingIfNeeded: isNegative ? ~power : power))
    }

    /// Returns `digits` × 10^`power` if it is below the limit; nil otherwise.
    private static func wholeNumber(_ digits: UInt64, _ power: Int) -> Int64? {
        guard power < 15 else { return nil }
        let (product, overflow) = digits.multipliedReportingOverflow(by: PowersOfTen.short[power])
        return overflow || product >= hashedWholeNumberLimit ? nil : Int64(product)
    }

    /// The coefficient rounded to 15 digits, and the exponent that belongs to it.
    private var leadingDigits: (UInt64, Int) {
        let coefficient = coefficient
        let surplus = PowersOfTen.digitCount(coefficient) - 15
        guard surplus > 0 else { return (UInt64(truncatingIfNeeded: coefficient), exponent) }
        let rounded = Decimal128.roundHalfEven(coefficient, droppingDigits: surplus)
        return (UInt64(truncatingIfNeeded: rounded), exponent + surplus)
    }
}
