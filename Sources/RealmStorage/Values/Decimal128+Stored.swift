// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The 32-bit and 64-bit forms that decimal leaves use for short numbers.
///
/// | | sign | exponent | bias | coefficient |
/// |---|---|---|---|---|
/// | 32 bits | 31 | 30:23 | 101 | 22:0 |
/// | 64 bits | 63 | 62:53 | 398 | 52:0 |
///
/// When the two bits below the sign are set, the exponent starts two bits lower and the coefficient has an implied
/// leading binary 100. Writers do not produce that form; readers accept it. Source: docs/format.md, "Decimal128".
extension Decimal128 {
    /// Widens a 32-bit decimal exactly; a coefficient of more than 7 digits reads as zero.
    ///
    /// The coefficient has 23 bits, and the exponent has another bias than in 128 bits; the value stays the same.
    ///
    /// - Parameter bits: The decimal as stored, with its bytes in the order of the processor.
    package init(stored32 bits: UInt32) {
        let isNegative = bits >> 31 == 1
        if let special = Decimal128(specialBits: UInt64(bits >> 26 & 0x1f), isNegative: isNegative) {
            self = special
        } else if bits >> 29 & 3 == 3 {
            self.init(
                isNegative: isNegative, coefficient: bits & 0x1f_ffff | 0x80_0000, limit: 9_999_999,
                exponent: Int(bits >> 21 & 0xff) - 101)
        } else {
            self.init(
                isNegative: isNegative, coefficient: bits & 0x7f_ffff, limit: 9_999_999,
                exponent: Int(bits >> 23 & 0xff) - 101)
        }
    }

    /// Widens a 64-bit decimal exactly; a coefficient of more than 16 digits reads as zero.
    ///
    /// The coefficient has 53 bits, and the exponent has another bias than in 128 bits; the value stays the same.
    ///
    /// - Parameter bits: The decimal as stored, with its bytes in the order of the processor.
    package init(stored64 bits: UInt64) {
        let isNegative = bits >> 63 == 1
        if let special = Decimal128(specialBits: bits >> 58 & 0x1f, isNegative: isNegative) {
            self = special
        } else if bits >> 61 & 3 == 3 {
            self.init(
                isNegative: isNegative, coefficient: bits & 0x7_ffff_ffff_ffff | 0x20_0000_0000_0000,
                limit: 9_999_999_999_999_999, exponent: Int(bits >> 51 & 0x3ff) - 398)
        } else {
            self.init(
                isNegative: isNegative, coefficient: bits & 0x1f_ffff_ffff_ffff,
                limit: 9_999_999_999_999_999, exponent: Int(bits >> 53 & 0x3ff) - 398)
        }
    }

    /// The 32-bit form of this number; null has the form `7c0000aa`.
    ///
    /// It is nil when the number needs more than 23 bits of coefficient, has an exponent outside
    /// that form, or is infinite or a NaN other than null.
    package var stored32: UInt32? {
        if isNull { return 0x7c00_00aa }
        guard isFinite, coefficient <= 0x7f_ffff, (-101...90).contains(exponent) else { return nil }
        return UInt32(truncatingIfNeeded: coefficient) | UInt32(exponent + 101) << 23 | (isNegative ? 1 << 31 : 0)
    }

    /// The 64-bit form of this number; null has the form `7c000000000000aa`.
    ///
    /// It is nil when the number needs more than 53 bits of coefficient, has an exponent outside
    /// that form, or is infinite or a NaN other than null.
    package var stored64: UInt64? {
        if isNull { return 0x7c00_0000_0000_00aa }
        guard isFinite, coefficient <= 0x1f_ffff_ffff_ffff, (-398...369).contains(exponent) else { return nil }
        return UInt64(truncatingIfNeeded: coefficient) | UInt64(exponent + 398) << 53 | (isNegative ? 1 << 63 : 0)
    }

    /// Makes infinity or NaN from the five bits below the sign; nil for finite numbers.
    private init?(specialBits bits: UInt64, isNegative: Bool) {
        guard bits & 0x1e == 0x1e else { return nil }
        let special = bits == 0x1f ? Decimal128.notANumber : .infinity
        self.init(low: 0, high: special.high | (isNegative ? Decimal128.signBit : 0))
    }

    /// Makes a decimal whose coefficient is replaced by zero if it is above `limit`.
    private init(isNegative: Bool, coefficient: some UnsignedInteger, limit: UInt64, exponent: Int) {
        let digits = UInt64(coefficient)
        self.init(isNegative: isNegative, coefficient: digits <= limit ? UInt128(digits) : 0, exponent: exponent)
    }
}
