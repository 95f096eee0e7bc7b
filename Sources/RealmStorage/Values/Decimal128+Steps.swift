// SPDX-License-Identifier: Apache-2.0

/// Division by whole steps that rounds down, as `floor` and `mod` do: the remainder is never negative.
extension Decimal128 {
    /// Returns the greatest multiple of `step` that is not above this number; up to 34 digits are exact.
    ///
    /// Equal numbers give the same digits. NaN and the infinities are returned as they are.
    ///
    /// - Parameter step: A number above 0.
    package func floor(toMultipleOf step: Int64) -> Decimal128 {
        isFinite ? (self - remainder(dividingBy: step)).reduced : self
    }

    /// Returns the difference of this number and `floor(toMultipleOf:)`; NaN for a number that is not finite.
    package func remainder(dividingBy step: Int64) -> Decimal128 {
        guard isFinite else { return .notANumber }
        let magnitude = remainderOfMagnitude(UInt128(step.magnitude))
        let isAboveFloor = !isNegative || magnitude.isZero
        return (isAboveFloor ? magnitude : Decimal128(step) - magnitude).reduced
    }

    /// Returns the remainder of the absolute value, exactly.
    private func remainderOfMagnitude(_ step: UInt128) -> Decimal128 {
        guard exponent < 0 else {
            // Both factors are below 2^63, so the product fits.
            let rest = coefficient % step * Decimal128.powerOfTen(exponent, modulo: step) % step
            return Decimal128(isNegative: false, coefficient: rest, exponent: 0)
        }
        // With this many decimals the step is beyond every coefficient.
        guard -exponent < PowersOfTen.values.count else { return magnitude }
        let (scaled, overflow) = step.multipliedReportingOverflow(by: PowersOfTen.values[-exponent])
        guard !overflow else { return magnitude }
        return Decimal128(isNegative: false, coefficient: coefficient % scaled, exponent: exponent)
    }

    /// The number without its sign.
    private var magnitude: Decimal128 { Decimal128(isNegative: false, coefficient: coefficient, exponent: exponent) }

    /// Returns 10 to the power `exponent`, modulo `step`.
    ///
    /// - Complexity: O(log exponent).
    private static func powerOfTen(_ exponent: Int, modulo step: UInt128) -> UInt128 {
        var result = 1 % step
        var base = 10 % step
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result = result * base % step }
            base = base * base % step
            rest >>= 1
        }
        return result
    }

    /// The same number with the exponent nearest to 0 that can represent it, and without a sign where it is zero.
    package var reduced: Decimal128 {
        guard isFinite else { return self }
        var coefficient = coefficient
        var exponent = exponent
        guard coefficient > 0 else { return Decimal128(isNegative: false, coefficient: 0, exponent: 0) }
        while exponent < 0, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        while exponent > 0, coefficient <= Decimal128.maximumCoefficient / 10 {
            coefficient *= 10
            exponent -= 1
        }
        return Decimal128(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }
}
