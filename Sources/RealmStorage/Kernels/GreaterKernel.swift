// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A kernel that finds elements greater than a constant.
///
/// The other ordering relations are derived from this one by changing the constant, exchanging both
/// sides or inverting the result; see `RangedComparison`.
struct GreaterKernel<Element: PackedElement>: MaskKernel {
    /// The constant in all sixteen lanes.
    let needle: SIMD16<Element>

    /// Makes a kernel that finds elements greater than `needle`.
    @inline(__always) init(_ needle: Element) { self.needle = SIMD16(repeating: needle) }

    /// The size of an element in bytes.
    @inline(__always) static var elementByteCount: Int { Element.byteCount }

    /// Compares 64 elements, all readable, from `pointer` on; bit `i` is set where element `i` is
    /// greater than the constant.
    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(
            of: Element.greater(Element.load(pointer, 0), needle), Element.greater(Element.load(pointer, 16), needle),
            Element.greater(Element.load(pointer, 32), needle), Element.greater(Element.load(pointer, 48), needle))
    }
}
