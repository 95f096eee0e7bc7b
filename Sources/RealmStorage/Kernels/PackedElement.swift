// SPDX-License-Identifier: Apache-2.0

/// An integer type that packed arrays hold as it is, for the widths 8, 16, 32 and 64.
///
/// It is `Codable` only because the scalars of a SIMD vector have to be.
protocol PackedElement: FixedWidthInteger, SignedInteger, SIMDScalar, Codable {
    /// Compares lane by lane whether the first is equal to the second.
    static func equal(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Compares lane by lane whether the first is greater than the second.
    static func greater(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Widens lanes of 0 or -1 to this type's size.
    static func widened(_ lanes: ByteLanes) -> SIMD16<Self>
}

/// Loads and sizes, which are the same for all four widths.
extension PackedElement {
    /// The size of an element in bytes.
    @inline(__always) static var byteCount: Int { bitWidth / 8 }

    /// Loads sixteen elements from element `index` on, at any alignment. The caller guarantees that the memory is readable.
    @inline(__always)
    static func load(_ pointer: UnsafeRawPointer, _ index: Int) -> SIMD16<Self> {
        unsafe pointer.loadUnaligned(fromByteOffset: index &* byteCount, as: SIMD16<Self>.self)
    }
}

/// Elements of one byte, whose compares result in lanes of one byte without narrowing.
extension Int8: PackedElement {
    /// Compares bytes; the result has byte lanes already.
    @inline(__always) static func equal(_ left: SIMD16<Int8>, _ right: SIMD16<Int8>) -> ByteLanes {
        unsafe unsafeBitCast(left .== right, to: ByteLanes.self)
    }

    /// Compares bytes as signed numbers; the result has byte lanes already.
    @inline(__always) static func greater(_ left: SIMD16<Int8>, _ right: SIMD16<Int8>) -> ByteLanes {
        unsafe unsafeBitCast(left .> right, to: ByteLanes.self)
    }

    /// Returns the lanes as they are, because they have this type's size.
    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int8> { lanes }
}

/// Elements of two bytes, whose compares are narrowed once.
extension Int16: PackedElement {
    /// Compares numbers of 16 bits, and narrows the result once.
    @inline(__always) static func equal(_ left: SIMD16<Int16>, _ right: SIMD16<Int16>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int16>.self))
    }

    /// Compares signed numbers of 16 bits, and narrows the result once.
    @inline(__always) static func greater(_ left: SIMD16<Int16>, _ right: SIMD16<Int16>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .> right, to: SIMD16<Int16>.self))
    }

    /// Widens byte lanes to 16 bits; the sign fills the new bits.
    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int16> { SIMD16<Int16>(truncatingIfNeeded: lanes) }
}

/// Elements of four bytes, whose compares are narrowed twice.
extension Int32: PackedElement {
    /// Compares numbers of 32 bits, and narrows the result twice.
    @inline(__always) static func equal(_ left: SIMD16<Int32>, _ right: SIMD16<Int32>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int32>.self))
    }

    /// Compares signed numbers of 32 bits, and narrows the result twice.
    @inline(__always) static func greater(_ left: SIMD16<Int32>, _ right: SIMD16<Int32>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .> right, to: SIMD16<Int32>.self))
    }

    /// Widens byte lanes to 32 bits; the sign fills the new bits.
    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int32> { SIMD16<Int32>(truncatingIfNeeded: lanes) }
}

/// Elements of eight bytes. The x86-64 baseline has no compare of 64-bit lanes, so the sign of a
/// difference is used, corrected for overflow.
extension Int64: PackedElement {
    /// Compares numbers of 64 bits: they are equal where both 32-bit halves of their difference are zero.
    @inline(__always) static func equal(_ left: SIMD16<Int64>, _ right: SIMD16<Int64>) -> ByteLanes {
        let different = unsafe unsafeBitCast(left ^ right, to: SIMD32<Int32>.self)
        let isZero = (different.evenHalf | different.oddHalf) .== SIMD16<Int32>.zero
        return unsafe LanePacking.narrowed(unsafeBitCast(isZero, to: SIMD16<Int32>.self))
    }

    /// Compares signed numbers of 64 bits by the sign of their difference. Where the subtraction
    /// overflows, which it can only if the signs differ, the sign is inverted.
    @inline(__always) static func greater(_ left: SIMD16<Int64>, _ right: SIMD16<Int64>) -> ByteLanes {
        let difference = right &- left
        let signed = difference ^ ((right ^ left) & (difference ^ right))
        return unsafe LanePacking.narrowed(unsafeBitCast(signed, to: SIMD32<Int32>.self).oddHalf &>> 31)
    }

    /// Widens byte lanes to 64 bits; the sign fills the new bits.
    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int64> { SIMD16<Int64>(truncatingIfNeeded: lanes) }
}
