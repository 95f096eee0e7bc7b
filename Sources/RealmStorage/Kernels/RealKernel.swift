// SPDX-License-Identifier: Apache-2.0

/// Numbers that pass `Test` against a constant.
struct RealKernel<Real: PackedReal, Test: RealTest>: MaskKernel {
    let needle: SIMD16<Real>

    @inline(__always) init(_ needle: Real) { self.needle = SIMD16(repeating: needle) }

    @inline(__always) static var elementByteCount: Int { Real.Bits.byteCount }

    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(lanes(pointer, 0), lanes(pointer, 16), lanes(pointer, 32), lanes(pointer, 48))
    }

    @inline(__always) private func lanes(_ pointer: UnsafeRawPointer, _ index: Int) -> ByteLanes {
        let numbers = unsafe pointer.loadUnaligned(fromByteOffset: index &* Real.Bits.byteCount, as: SIMD16<Real>.self)
        return Test.lanes(numbers, needle)
    }
}
