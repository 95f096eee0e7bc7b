// SPDX-License-Identifier: Apache-2.0

internal import CDecimal

/// Arithmetic with 34 digits, rounding half to even; division by zero gives infinity or NaN and never fails.
///
/// The library prefixes its names with two underscores (a macro of its own header does it).
extension Decimal128 {
    /// The sum, rounded to 34 digits.
    package static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_add(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// The difference, rounded to 34 digits.
    package static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_sub(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// The product, rounded to 34 digits.
    package static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_mul(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// The quotient, rounded to 34 digits.
    package static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_div(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// Adds `right` to `left`.
    package static func += (left: inout Decimal128, right: Decimal128) { left = left + right }
}
