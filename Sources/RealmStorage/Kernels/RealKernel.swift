// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A kernel that finds numbers that pass `Test` against a constant.
///
/// The test is a type, not a value, so that each of the relations becomes a loop of its own without
/// a branch for the relation.
struct RealKernel<Real: PackedReal, Test: RealTest>: MaskKernel {
    /// The constant in all sixteen lanes.
    let needle: SIMD16<Real>

    /// Makes a kernel that compares with `needle`.
    @inline(__always) init(_ needle: Real) { self.needle = SIMD16(repeating: needle) }

    /// The size of an element in bytes.
    @inline(__always) static var elementByteCount: Int { Real.Bits.byteCount }

    /// Tests 64 elements, all readable, from `pointer` on; bit `i` is set where element `i` passes.
    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(of: lanes(pointer, 0), lanes(pointer, 16), lanes(pointer, 32), lanes(pointer, 48))
    }

    /// Tests sixteen elements from element `index` on.
    @inline(__always) private func lanes(_ pointer: UnsafeRawPointer, _ index: Int) -> ByteLanes {
        let numbers = unsafe pointer.loadUnaligned(fromByteOffset: index &* Real.Bits.byteCount, as: SIMD16<Real>.self)
        return Test.lanes(numbers, needle)
    }
}
