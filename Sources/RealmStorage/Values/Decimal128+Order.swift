// SPDX-License-Identifier: Apache-2.0

extension Decimal128 {
    /// Negative, zero or positive as this number sorts before, with or after `other`.
    ///
    /// The order is total: NaNs come first, among themselves by high word, then low word; all others by value, so
    /// 1.0 and 1.00 are equal and so are 0 and -0. It is the order of sets in the file. Source: docs/format.md, "Sets".
    package func compare(_ other: Decimal128) -> Int {
        if isNaN || other.isNaN { return compareNaN(other) }
        let isBelowZero = isNegative && !isZero, otherIsBelowZero = other.isNegative && !other.isZero
        guard isBelowZero == otherIsBelowZero else { return isBelowZero ? -1 : 1 }
        let order = compareMagnitude(other)
        return isBelowZero ? -order : order
    }

    /// Equal by value, or the very same NaN.
    package func isEqual(to other: Decimal128) -> Bool { compare(other) == 0 }

    private func compareNaN(_ other: Decimal128) -> Int {
        guard isNaN && other.isNaN else { return isNaN ? -1 : 1 }
        return high != other.high ? (high < other.high ? -1 : 1) : (low < other.low ? -1 : low > other.low ? 1 : 0)
    }

    /// Compares without the signs.
    private func compareMagnitude(_ other: Decimal128) -> Int {
        guard isFinite, other.isFinite else { return (isFinite ? 0 : 1) - (other.isFinite ? 0 : 1) }
        let left = coefficient, right = other.coefficient
        let shift = exponent - other.exponent
        if shift == 0 || left == 0 || right == 0 { return left < right ? -1 : left > right ? 1 : 0 }
        return shift > 0
            ? Decimal128.compare(left, shiftedBy: shift, with: right)
            : -Decimal128.compare(right, shiftedBy: -shift, with: left)
    }

    /// Compares `left` × 10^`shift` with `right`; both are coefficients above 0.
    private static func compare(_ left: UInt128, shiftedBy shift: Int, with right: UInt128) -> Int {
        guard shift < maximumDigitCount else { return 1 }
        let (product, overflow) = left.multipliedReportingOverflow(by: PowersOfTen.values[shift])
        if overflow { return 1 }
        return product < right ? -1 : product > right ? 1 : 0
    }

    /// Feeds a hash in which equal numbers agree, whatever their exponents: of a finite number the first 15
    /// significant digits, rounded, so that a double and the decimal it equals (see `init(_: Double)`) agree too.
    package func hashNumerically(into hasher: inout Hasher) {
        guard isFinite else {
            hasher.combine(high)
            hasher.combine(low)
            return
        }
        var digits = coefficient, power = exponent
        let count = PowersOfTen.digitCount(digits)
        if count > 15 {
            digits = Decimal128.roundHalfEven(digits, droppingDigits: count - 15)
            power += count - 15
        }
        var short = UInt64(truncatingIfNeeded: digits)
        guard short != 0 else { return hasher.combine(UInt64(0)) }
        while short % 10 == 0 {
            short /= 10
            power += 1
        }
        hasher.combine(short)
        hasher.combine(Int16(truncatingIfNeeded: isNegative ? ~power : power))
    }
}
