// SPDX-License-Identifier: Apache-2.0

/// Comparison of numbers by value, also of numbers of different types.
///
/// Every function returns a negative number, zero or a positive number when the first number sorts
/// before, with or after the second. A NaN sorts below everything else, also below minus infinity;
/// among NaNs the bits decide, so that a NaN equals itself. Zero and minus zero are equal.
package enum NumberOrder {
    /// Compares two integers of 64 bits.
    @inlinable package static func compare(_ left: Int64, _ right: Int64) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    /// Compares two doubles in the order that the type describes.
    @inlinable package static func compare(_ left: Double, _ right: Double) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        if left == right { return 0 }
        if left.isNaN && right.isNaN { return compareBits(left.bitPattern, right.bitPattern) }
        return left.isNaN ? -1 : 1
    }

    /// Compares two floats in the order that the type describes.
    @inlinable package static func compare(_ left: Float, _ right: Float) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        if left == right { return 0 }
        if left.isNaN && right.isNaN { return compareBits(UInt64(left.bitPattern), UInt64(right.bitPattern)) }
        return left.isNaN ? -1 : 1
    }

    /// Compares an integer with a double exactly: the integer is not rounded, so 2^53 + 1 differs from 2.0^53.
    @inlinable package static func compare(_ left: Int64, _ right: Double) -> Int {
        if right.isNaN || right < -0x1p63 { return 1 }
        if right >= 0x1p63 { return -1 }
        // In range by the two checks above; the fraction is cut off.
        let whole = Int64(right)
        if left != whole { return left < whole ? -1 : 1 }
        let fraction = right - Double(whole)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }

    /// Compares the bits of two NaNs as unsigned numbers.
    @inlinable static func compareBits(_ left: UInt64, _ right: UInt64) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }
}
