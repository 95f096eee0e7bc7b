// SPDX-License-Identifier: Apache-2.0

#if !_endian(little)
#error("The kernels read vectors of little-endian numbers in place.")
#endif

/// A test of 64 neighbouring elements at once.
///
/// Kernels are small structs with their constants; `mask` is specialised for each, so that nothing of the
/// protocol is left in the optimised build.
protocol MaskKernel {
    /// The size of an element in bytes.
    static var elementByteCount: Int { get }

    /// Bit `i` answers for the element `i` places after `pointer`; all 64 elements are readable.
    func word(at pointer: UnsafeRawPointer) -> UInt64
}

/// Running a kernel over any run of up to 256 elements.
extension MaskKernel {
    /// Tests the elements `start..<start + count` of a payload; at most 256, all inside the payload.
    ///
    /// A last group of fewer than 64 elements is read as the 64 elements that end with it, so that nothing after
    /// the run is touched; a run too short for that is copied first.
    @inline(__always)
    func mask(_ payload: UnsafeRawPointer, start: Int, count: Int) -> Mask {
        let size = Self.elementByteCount
        let run = unsafe payload + start &* size
        // In bounds: when 64 elements end with the run, they begin in the payload or exactly with it.
        if start &+ count >= 64 { return unsafe sweep(run, count: count) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 64 &* size, alignment: 16) { copy in
            unsafe copy.initializeMemory(as: UInt8.self, repeating: 0)
            // In bounds: fewer than 64 elements into room for 64; they end where the copy ends.
            let end = unsafe copy.baseAddress.unsafelyUnwrapped + 64 &* size
            unsafe (end - count &* size).copyMemory(from: run, byteCount: count &* size)
            return unsafe sweep(UnsafeRawPointer(end - count &* size), count: count)
        }
    }

    /// The elements of `run`; when `count` is no multiple of 64 the 64 elements that end with it are readable.
    @inline(never)
    private func sweep(_ run: UnsafeRawPointer, count: Int) -> Mask {
        var words = SIMD4<UInt64>.zero
        for group in 0..<4 {
            let rest = count &- group &<< 6
            var word: UInt64 = 0
            if rest > 0 {
                let missing = Swift.max(64 &- rest, 0)
                let first = group &<< 6 &- missing
                word = unsafe self.word(at: run + first &* Self.elementByteCount) &>> UInt64(truncatingIfNeeded: missing)
            }
            // Shifting the words along keeps them in registers where a variable subscript would not.
            words = SIMD4(words[1], words[2], words[3], word)
        }
        return Mask(words: words)
    }
}

/// What vector compares leave: 16 lanes of 0 (no) or -1 (yes).
typealias ByteLanes = SIMD16<Int8>
