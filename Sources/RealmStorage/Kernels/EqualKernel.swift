// SPDX-License-Identifier: Apache-2.0

/// A kernel that finds elements equal to a constant.
///
/// The constant is repeated in all lanes once, when the kernel is made, so that the loop over a
/// leaf has nothing but loads, compares and packing in it.
struct EqualKernel<Element: PackedElement>: MaskKernel {
    /// The constant in all sixteen lanes.
    let needle: SIMD16<Element>

    /// Makes a kernel that finds elements equal to `needle`.
    @inline(__always) init(_ needle: Element) { self.needle = SIMD16(repeating: needle) }

    /// The size of an element in bytes.
    @inline(__always) static var elementByteCount: Int { Element.byteCount }

    /// Compares 64 elements, all readable, from `pointer` on; bit `i` is set where element `i` equals the constant.
    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(
            of: Element.equal(Element.load(pointer, 0), needle), Element.equal(Element.load(pointer, 16), needle),
            Element.equal(Element.load(pointer, 32), needle), Element.equal(Element.load(pointer, 48), needle))
    }
}
