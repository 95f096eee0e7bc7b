// SPDX-License-Identifier: Apache-2.0

/// Elements equal to a constant.
struct EqualKernel<Element: PackedElement>: MaskKernel {
    let needle: SIMD16<Element>

    @inline(__always) init(_ needle: Element) { self.needle = SIMD16(repeating: needle) }

    @inline(__always) static var elementByteCount: Int { Element.byteCount }

    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(
            Element.equal(Element.load(pointer, 0), needle), Element.equal(Element.load(pointer, 16), needle),
            Element.equal(Element.load(pointer, 32), needle), Element.equal(Element.load(pointer, 48), needle))
    }
}
