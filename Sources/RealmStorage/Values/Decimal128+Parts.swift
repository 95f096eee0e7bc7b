// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The fields of a decimal, for exact arithmetic outside of the library.
extension Decimal128 {
    /// The fields of the binary-integer encoding, as stored.
    package enum Parts: Sendable, Equatable {
        /// Not a number; null is one.
        case nan(isNegative: Bool)
        case infinity(isNegative: Bool)
        /// The number `coefficient * 10^exponent`. The coefficient is as stored: 10^34 and above are not canonical.
        case finite(isNegative: Bool, coefficient: UInt128, exponent: Int)
    }

    /// The fields of the number. Source: docs/format.md, "Decimal128".
    package var parts: Parts {
        let isNegative = high >> 63 == 1
        if high >> 59 & 0xf == 0xf {
            return high >> 58 & 1 == 1 ? .nan(isNegative: isNegative) : .infinity(isNegative: isNegative)
        }
        // The form with an implied leading 100 is not canonical at this width and reads as zero.
        if high >> 61 & 3 == 3 {
            return .finite(isNegative: isNegative, coefficient: 0, exponent: Int(high >> 47 & 0x3fff) - 6176)
        }
        return .finite(
            isNegative: isNegative, coefficient: UInt128(high & 0x1_ffff_ffff_ffff) << 64 | UInt128(low),
            exponent: Int(high >> 49 & 0x3fff) - 6176)
    }
}
