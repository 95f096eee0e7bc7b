// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

#if !_endian(little)
#error("The kernels read vectors of little-endian numbers in place.")
#endif

/// A test of 64 neighbouring elements of a packed array at once.
///
/// Kernels are small structs with their constants. The function `mask` is specialized for each of
/// them, so that the optimized build has no calls through the protocol.
protocol MaskKernel {
    /// The size in bytes of one element of the packed array.
    static var elementByteCount: Int { get }

    /// Tests 64 elements from `pointer` on, all of which must be readable; bit `i` is the result
    /// for the element `i` places after it.
    ///
    /// - Parameter pointer: The first of 64 elements, at any alignment.
    func word(at pointer: UnsafeRawPointer) -> UInt64
}

/// Running a kernel over any run of up to 256 elements.
extension MaskKernel {
    /// Tests the elements `start..<start + count` of a payload.
    ///
    /// A last group of fewer than 64 elements is read as the 64 elements that end with it, so that
    /// nothing after the run is read; a run too short for that is copied first.
    ///
    /// - Parameters:
    ///   - payload: The first byte of the array's elements.
    ///   - start: The element that bit 0 of the result represents.
    ///   - count: How many elements are tested, at most 256; all of them must be inside the
    ///     payload.
    @inline(__always)
    func mask(_ payload: UnsafeRawPointer, start: Int, count: Int) -> Mask {
        let size = Self.elementByteCount
        let run = unsafe payload + start &* size
        // In bounds: when 64 elements end with the run, they begin in the payload or exactly with it.
        if start &+ count >= 64 { return unsafe sweep(run, count: count) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 64 &* size, alignment: 16) { copy in
            unsafe copy.initializeMemory(as: UInt8.self, repeating: 0)
            // In bounds: fewer than 64 elements are copied to the end of memory for 64.
            let end = unsafe copy.baseAddress.unsafelyUnwrapped + 64 &* size
            unsafe (end - count &* size).copyMemory(from: run, byteCount: count &* size)
            return unsafe sweep(UnsafeRawPointer(end - count &* size), count: count)
        }
    }

    /// Tests the elements of `run`, 64 at a time; when `count` is not a multiple of 64, the 64
    /// elements that end with it must be readable.
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

/// The result of a vector compare: 16 lanes of 0 (no) or -1 (yes).
typealias ByteLanes = SIMD16<Int8>
