// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A kernel that finds elements which are greater than the one before them by a constant.
///
/// In an array of ends it finds the values of one length. Differences wrap around, which those of ends that ascend never do.
struct StepKernel<Element: PackedElement>: MaskKernel {
    /// The constant in all sixteen lanes.
    private let step: SIMD16<Element>

    /// Makes a kernel that finds elements greater by `step`.
    @inline(__always) init(_ step: Element) { self.step = SIMD16(repeating: step) }

    /// The size of an element in bytes.
    @inline(__always) static var elementByteCount: Int { Element.byteCount }

    /// Tests 64 elements from `pointer` on, which must be readable with the one before them.
    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(of: lanes(pointer, 0), lanes(pointer, 16), lanes(pointer, 32), lanes(pointer, 48))
    }

    /// Tests sixteen elements from element `index` on.
    @inline(__always)
    private func lanes(_ pointer: UnsafeRawPointer, _ index: Int) -> ByteLanes {
        unsafe Element.equal(Element.load(pointer, index) &- Element.load(pointer, index &- 1), step)
    }
}
