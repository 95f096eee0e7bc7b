// SPDX-License-Identifier: Apache-2.0

/// An integer type that packed arrays hold as it is: widths 8, 16, 32, 64.
///
/// `Codable` only because the lanes of a vector have to be.
protocol PackedElement: FixedWidthInteger, SignedInteger, SIMDScalar, Codable {
    /// Lane by lane: is the first equal to the second?
    static func equal(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Lane by lane: is the first greater than the second?
    static func greater(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Lanes of 0 or -1 in this type's size.
    static func widened(_ lanes: ByteLanes) -> SIMD16<Self>
}

/// What all four widths share.
extension PackedElement {
    /// The size of an element in bytes.
    @inline(__always) static var byteCount: Int { bitWidth / 8 }

    /// Sixteen elements; the caller vouches for their memory.
    @inline(__always)
    static func load(_ pointer: UnsafeRawPointer, _ index: Int) -> SIMD16<Self> {
        unsafe pointer.loadUnaligned(fromByteOffset: index &* byteCount, as: SIMD16<Self>.self)
    }
}

/// Elements of one byte: vector compares give byte lanes already.
extension Int8: PackedElement {
    @inline(__always) static func equal(_ left: SIMD16<Int8>, _ right: SIMD16<Int8>) -> ByteLanes {
        unsafe unsafeBitCast(left .== right, to: ByteLanes.self)
    }

    @inline(__always) static func greater(_ left: SIMD16<Int8>, _ right: SIMD16<Int8>) -> ByteLanes {
        unsafe unsafeBitCast(left .> right, to: ByteLanes.self)
    }

    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int8> { lanes }
}

/// Elements of two bytes: lanes are narrowed once.
extension Int16: PackedElement {
    @inline(__always) static func equal(_ left: SIMD16<Int16>, _ right: SIMD16<Int16>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int16>.self))
    }

    @inline(__always) static func greater(_ left: SIMD16<Int16>, _ right: SIMD16<Int16>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .> right, to: SIMD16<Int16>.self))
    }

    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int16> { SIMD16<Int16>(truncatingIfNeeded: lanes) }
}

/// Elements of four bytes: lanes are narrowed twice.
extension Int32: PackedElement {
    @inline(__always) static func equal(_ left: SIMD16<Int32>, _ right: SIMD16<Int32>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int32>.self))
    }

    @inline(__always) static func greater(_ left: SIMD16<Int32>, _ right: SIMD16<Int32>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .> right, to: SIMD16<Int32>.self))
    }

    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int32> { SIMD16<Int32>(truncatingIfNeeded: lanes) }
}

/// The x86-64 baseline has no compare of 64-bit lanes, so the sign of a difference is used, put right for overflow.
extension Int64: PackedElement {
    @inline(__always) static func equal(_ left: SIMD16<Int64>, _ right: SIMD16<Int64>) -> ByteLanes {
        let different = unsafe unsafeBitCast(left ^ right, to: SIMD32<Int32>.self)
        let isZero = (different.evenHalf | different.oddHalf) .== SIMD16<Int32>.zero
        return unsafe LanePacking.narrowed(unsafeBitCast(isZero, to: SIMD16<Int32>.self))
    }

    @inline(__always) static func greater(_ left: SIMD16<Int64>, _ right: SIMD16<Int64>) -> ByteLanes {
        let difference = right &- left
        let signed = difference ^ ((right ^ left) & (difference ^ right))
        return unsafe LanePacking.narrowed(unsafeBitCast(signed, to: SIMD32<Int32>.self).oddHalf &>> 31)
    }

    @inline(__always) static func widened(_ lanes: ByteLanes) -> SIMD16<Int64> { SIMD16<Int64>(truncatingIfNeeded: lanes) }
}
