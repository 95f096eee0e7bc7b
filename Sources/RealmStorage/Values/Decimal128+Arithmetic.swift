// SPDX-License-Identifier: Apache-2.0

internal import CDecimal

/// Arithmetic with 34 digits, rounding half to even; division by zero results in infinity or NaN and never fails.
///
/// The functions are those of Intel's decimal library, whose names get two underscores in front by a macro of its header.
extension Decimal128 {
    /// Returns the sum, rounded to 34 digits.
    package static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_add(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// Returns the difference, rounded to 34 digits.
    package static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_sub(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// Returns the product, rounded to 34 digits.
    package static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_mul(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// Returns the quotient, rounded to 34 digits.
    package static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        var flags: UInt32 = 0
        return unsafe Decimal128(__bid128_div(BID_UINT128(left), BID_UINT128(right), nearestEven, &flags))
    }

    /// Adds `right` to `left`, rounded to 34 digits.
    package static func += (left: inout Decimal128, right: Decimal128) { left = left + right }
}
