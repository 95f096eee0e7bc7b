// SPDX-License-Identifier: Apache-2.0

/// The elements of a float or double node, with null as one particular NaN.
///
/// Compares are either IEEE 754's, in which a NaN is unequal to everything and unordered, or those of the *general
/// order*, in which NaN stands below every number and equals an identical NaN. Null, though stored as a NaN, takes
/// part in neither.
///
/// `@unchecked Sendable`: borrowed, never-changing memory of a snapshot (see `Node`).
@safe struct PackedReals<Real: PackedReal>: @unchecked Sendable {
    let payload: UnsafeRawPointer
    let count: Int

    /// The elements of a node that was checked to hold numbers of this size.
    @inline(__always)
    init(_ node: Node) {
        unsafe payload = unsafe node.payload
        count = node.count
    }

    /// In bounds: the caller's row is below the count.
    @inline(__always)
    func bits(_ row: Int) -> Real.Bits {
        assert(row >= 0 && row < count)
        return unsafe payload.loadUnaligned(fromByteOffset: row &* Real.Bits.byteCount, as: Real.Bits.self)
    }

    @inline(__always)
    func number(_ row: Int) -> Real { Real(packedBits: bits(row)) }

    @inline(__always)
    func checkRun(_ start: Int, _ count: Int) {
        precondition(
            start >= 0 && count >= 0 && count <= Mask.capacity && start <= self.count - count,
            "a run outside its numbers")
    }
}

/// `Float` and `Double` as packed arrays hold them.
protocol PackedReal: BinaryFloatingPoint, SIMDScalar, Codable, Sendable {
    /// The signed integer of the same size.
    associatedtype Bits: PackedElement
    init(packedBits: Bits)
    var packedBits: Bits { get }
    /// The bits that mean null.
    static var nullBits: Bits { get }
    static func equal(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    static func less(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
    static func lessOrEqual(_ left: SIMD16<Self>, _ right: SIMD16<Self>) -> ByteLanes
}

extension PackedReal {
    /// Whether these are the bits of null.
    @inline(__always) var isPackedNull: Bool { packedBits == Self.nullBits }
}

extension Float: PackedReal {
    @inline(__always) init(packedBits: Int32) { self.init(bitPattern: UInt32(bitPattern: packedBits)) }
    @inline(__always) var packedBits: Int32 { Int32(bitPattern: bitPattern) }
    @inline(__always) static var nullBits: Int32 { Int32(bitPattern: FloatLeaf.nullBits) }

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

extension Double: PackedReal {
    @inline(__always) init(packedBits: Int64) { self.init(bitPattern: UInt64(bitPattern: packedBits)) }
    @inline(__always) var packedBits: Int64 { Int64(bitPattern: bitPattern) }
    @inline(__always) static var nullBits: Int64 { Int64(bitPattern: DoubleLeaf.nullBits) }

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
