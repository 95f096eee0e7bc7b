// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// `Float` and `Double` as packed arrays hold them.
///
/// Bits of numbers are compared as signed integers of the same size where null, which is one
/// particular NaN, has to be distinguished from other NaNs.
protocol PackedReal: BinaryFloatingPoint, SIMDScalar, Codable, Sendable {
    /// The signed integer type of the same size, in which bits are compared.
    associatedtype Bits: PackedElement
    /// Makes the floating-point number that has these bits.
    init(packedBits: Bits)
    /// The bits of the floating-point number as a signed integer of the same size.
    var packedBits: Bits { get }
    /// The bits of the NaN that means null in a leaf.
    static var nullBits: Bits { get }
    /// Compares lane by lane, by IEEE 754, whether the first is equal to the second.
    static func equal(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Compares lane by lane, by IEEE 754, whether the first is less than the second.
    static func less(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    /// Compares lane by lane, by IEEE 754, whether the first is less than the second or equal.
    static func lessOrEqual(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
}

/// The test for null, which is the same for both sizes.
extension PackedReal {
    /// Whether the number is the NaN that means null.
    @inline(__always) var isPackedNull: Bool { packedBits == Self.nullBits }
}

/// Numbers of 32 bits in packed arrays.
extension Float: PackedReal {
    /// Makes the float with these 32 bits, any NaN included.
    ///
    /// The 32 bits of the float as a signed integer.
    @inline(__always) init(packedBits: Int32) { self.init(bitPattern: UInt32(bitPattern: packedBits)) }
    @inline(__always) var packedBits: Int32 { Int32(bitPattern: bitPattern) }
    /// The quiet NaN that means null. Source: docs/format.md, "Float, double".
    @inline(__always) static var nullBits: Int32 { Int32(bitPattern: 0x7fc0_00aa) }

    /// Compares floats by IEEE 754, and narrows the result to byte lanes.
    @inline(__always) static func equal(_ left: SIMD16<Float>, _ right: SIMD16<Float>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int32>.self))
    }

    /// Compares floats by IEEE 754, and narrows the result to byte lanes; a NaN is not less than anything.
    @inline(__always) static func less(_ left: SIMD16<Float>, _ right: SIMD16<Float>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .< right, to: SIMD16<Int32>.self))
    }

    /// Compares floats by IEEE 754, and narrows the result to byte lanes; a NaN never passes.
    @inline(__always) static func lessOrEqual(_ left: SIMD16<Float>, _ right: SIMD16<Float>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .<= right, to: SIMD16<Int32>.self))
    }
}

/// Numbers of 64 bits in packed arrays.
extension Double: PackedReal {
    /// Makes the double with these 64 bits, any NaN included.
    ///
    /// The 64 bits of the double as a signed integer.
    @inline(__always) init(packedBits: Int64) { self.init(bitPattern: UInt64(bitPattern: packedBits)) }
    @inline(__always) var packedBits: Int64 { Int64(bitPattern: bitPattern) }
    /// The quiet NaN that means null. Source: docs/format.md, "Float, double".
    @inline(__always) static var nullBits: Int64 { Int64(bitPattern: 0x7ff8_0000_0000_00aa) }

    /// Compares doubles by IEEE 754, and narrows the result to byte lanes.
    @inline(__always) static func equal(_ left: SIMD16<Double>, _ right: SIMD16<Double>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .== right, to: SIMD16<Int64>.self))
    }

    /// Compares doubles by IEEE 754, and narrows the result to byte lanes; a NaN is not less than anything.
    @inline(__always) static func less(_ left: SIMD16<Double>, _ right: SIMD16<Double>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .< right, to: SIMD16<Int64>.self))
    }

    /// Compares doubles by IEEE 754, and narrows the result to byte lanes; a NaN never passes.
    @inline(__always) static func lessOrEqual(_ left: SIMD16<Double>, _ right: SIMD16<Double>) -> ByteLanes {
        unsafe LanePacking.narrowed(unsafeBitCast(left .<= right, to: SIMD16<Int64>.self))
    }
}
