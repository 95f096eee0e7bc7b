// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Sign, exponent and coefficient of a decimal, and how a decimal is made of them.
///
/// The value is (-1)^sign × coefficient × 10^exponent. Source: docs/format.md, "Decimal128".
extension Decimal128 {
    /// The bit of the high word that is set in negative numbers.
    static let signBit: UInt64 = 1 << 63
    /// The number that is added to the exponent before it is stored.
    @usableFromInline static let exponentBias = 6176
    /// The exponents that can be stored.
    static let exponents = -6176...6111
    /// The number of digits that a coefficient can have. A greater coefficient in a file is not canonical and reads as zero.
    static let maximumDigitCount = 34
    /// The greatest coefficient of 34 digits.
    @usableFromInline static let maximumCoefficient: UInt128 = 9_999_999_999_999_999_999_999_999_999_999_999

    /// The positive infinity.
    package static let infinity = Decimal128(low: 0, high: 0x7800_0000_0000_0000)
    package static let negativeInfinity = Decimal128(low: 0, high: 0xf800_0000_0000_0000)
    /// A NaN that does not signal. Null is another NaN; see `isNull`.
    package static let notANumber = Decimal128(low: 0, high: 0x7c00_0000_0000_0000)

    /// Makes a finite number.
    ///
    /// - Parameters:
    ///   - isNegative: Whether it has a minus sign.
    ///   - coefficient: A number of at most 34 digits.
    ///   - exponent: The power of ten, in -6176...6111.
    init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
        assert(coefficient <= Decimal128.maximumCoefficient && Decimal128.exponents.contains(exponent))
        let biased = UInt64(truncatingIfNeeded: exponent + Decimal128.exponentBias)
        self.init(
            low: UInt64(truncatingIfNeeded: coefficient),
            high: UInt64(truncatingIfNeeded: coefficient >> 64) | biased << 49 | (isNegative ? Decimal128.signBit : 0))
    }

    /// Whether the sign is negative, which zero and NaN can have too.
    @inlinable package var isNegative: Bool { high >> 63 == 1 }
    /// Whether the number is a NaN, which null is too.
    @inlinable package var isNaN: Bool { high & 0x7c00_0000_0000_0000 == 0x7c00_0000_0000_0000 }
    @inlinable package var isInfinite: Bool { high & 0x7c00_0000_0000_0000 == 0x7800_0000_0000_0000 }
    /// Whether the number is neither infinite nor a NaN.
    @inlinable package var isFinite: Bool { high & 0x7800_0000_0000_0000 != 0x7800_0000_0000_0000 }
    /// Whether the number is zero, of either sign and any exponent.
    @inlinable package var isZero: Bool { isFinite && coefficient == 0 }

    /// Whether the two bits below the sign are both set: the exponent then starts two bits lower,
    /// and the coefficient that is implied is always too great to be canonical.
    @inlinable var hasLargeCoefficient: Bool { high & 0x6000_0000_0000_0000 == 0x6000_0000_0000_0000 }

    /// The coefficient of a finite number; zero if it is not canonical.
    @inlinable var coefficient: UInt128 {
        if hasLargeCoefficient { return 0 }
        let stored = UInt128(high & 0x1_ffff_ffff_ffff) << 64 | UInt128(low)
        return stored <= Decimal128.maximumCoefficient ? stored : 0
    }

    /// The power of ten of a finite number, in -6176...6111.
    @inlinable var exponent: Int {
        let biased = hasLargeCoefficient ? (high >> 47) & 0x3fff : (high >> 49) & 0x3fff
        return Int(biased) - Decimal128.exponentBias
    }

    /// The same number with a canonical coefficient; infinities and NaNs are returned as they are.
    package var canonical: Decimal128 {
        guard isFinite else { return self }
        return Decimal128(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }
}
