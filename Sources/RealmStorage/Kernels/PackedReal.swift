// SPDX-License-Identifier: Apache-2.0

/// `Float` and `Double` as packed arrays hold them.
///
/// The bits of a number are compared as a signed integer of the same size where null, which is one particular NaN, has to be
/// distinguished
/// from other NaNs.
protocol PackedReal: BinaryFloatingPoint, SIMDScalar, Codable, Sendable {
    /// The signed integer of the same size.
    associatedtype Bits: PackedElement
    /// The number with these bits.
    init(packedBits: Bits)
    /// The bits of the number.
    var packedBits: Bits { get }
    /// The bits that mean null.
    static var nullBits: Bits { get }
    /// Lane by lane by IEEE 754: is the first equal to the second?
    static func equal(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Lane by lane by IEEE 754: is the first less than the second?
    static func less(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Lane by lane by IEEE 754: is the first less than the second, or equal?
    static func lessOrEqual(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
}

/// What both sizes share.
extension PackedReal {
    /// Whether these are the bits of null.
    @inline(__always) var isPackedNull: Bool { packedBits == Self.nullBits }
}

/// Numbers of 32 bits.
extension Float: PackedReal {
    @inline(__always) init(packedBits: Int32) { self.init(bitPattern: UInt32(bitPattern: packedBits)) }
    @inline(__always) var packedBits: Int32 { Int32(bitPattern: bitPattern) }
    /// The quiet NaN that means null. Source: docs/format.md, "Float, double".
    @inline(__always) static var nullBits: Int32 { Int32(bitPattern: 0x7fc0_00aa) }

    @inline(__always) static func equal(_ left: SIMD16<Float>, _ right: SIMD16<Float>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int32>.self))
    }

    @inline(__always) static func less(_ left: SIMD16<Float>, _ right: SIMD16<Float>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .< right, to: SIMD16<Int32>.self))
    }

    @inline(__always) static func lessOrEqual(_ left: SIMD16<Float>, _ right: SIMD16<Float>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .<= right, to: SIMD16<Int32>.self))
    }
}

/// Numbers of 64 bits.
extension Double: PackedReal {
    @inline(__always) init(packedBits: Int64) { self.init(bitPattern: UInt64(bitPattern: packedBits)) }
    @inline(__always) var packedBits: Int64 { Int64(bitPattern: bitPattern) }
    /// The quiet NaN that means null. Source: docs/format.md, "Float, double".
    @inline(__always) static var nullBits: Int64 { Int64(bitPattern: 0x7ff8_0000_0000_00aa) }

    @inline(__always) static func equal(_ left: SIMD16<Double>, _ right: SIMD16<Double>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int64>.self))
    }

    @inline(__always) static func less(_ left: SIMD16<Double>, _ right: SIMD16<Double>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .< right, to: SIMD16<Int64>.self))
    }

    @inline(__always) static func lessOrEqual(_ left: SIMD16<Double>, _ right: SIMD16<Double>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .<= right, to: SIMD16<Int64>.self))
    }
}
