// SPDX-License-Identifier: Apache-2.0

internal import CProcessor

#if !_endian(little)
#error("The kernels read vectors of little-endian numbers in place.")
#endif

/// A test of 64 neighbouring elements at once.
///
/// Kernels are small structs with their constants; `mask` is specialised for each, so that nothing of the
/// protocol is left in the optimised build.
protocol MaskKernel {
    static var elementByteCount: Int { get }

    /// Bit `i` answers for the element `i` places behind `pointer`; all 64 elements are readable.
    func word(at pointer: UnsafeRawPointer) -> UInt64
}

extension MaskKernel {
    /// Tests the elements `start..<start + count` of a payload; at most 256, all inside the payload.
    ///
    /// A last group of fewer than 64 elements is read as the 64 elements that end with it, so that nothing behind
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

/// Packing of compared lanes into mask bits.
enum LanePacking {
    /// Four times 16 lanes as 64 bits, first lane lowest.
    @inline(__always)
    static func word(_ a: ByteLanes, _ b: ByteLanes, _ c: ByteLanes, _ d: ByteLanes) -> UInt64 {
        let low = UInt64(realm_rest_signs(a)) | UInt64(realm_rest_signs(b)) &<< 16
        let high = UInt64(realm_rest_signs(c)) | UInt64(realm_rest_signs(d)) &<< 16
        return low | high &<< 32
    }

    /// Lanes of 16 bits as lanes of 8 bits.
    @inline(__always)
    static func narrowed(_ lanes: SIMD16<Int16>) -> ByteLanes { ByteLanes(truncatingIfNeeded: lanes) }

    /// Lanes of 32 bits as lanes of 8 bits, in the two steps that vector units have instructions for.
    @inline(__always)
    static func narrowed(_ lanes: SIMD16<Int32>) -> ByteLanes {
        narrowed(
            SIMD16<Int16>(
                lowHalf: SIMD8<Int16>(truncatingIfNeeded: lanes.lowHalf),
                highHalf: SIMD8<Int16>(truncatingIfNeeded: lanes.highHalf)))
    }

    /// Lanes of 64 bits as lanes of 8 bits; the even 32-bit halves of all-or-nothing lanes say it all.
    @inline(__always)
    static func narrowed(_ lanes: SIMD16<Int64>) -> ByteLanes {
        unsafe narrowed(unsafeBitCast(lanes, to: SIMD32<Int32>.self).evenHalf)
    }
}

extension LanePacking {
    /// The inverse for 16 rows: the lowest 16 bits of `bits` as lanes of 0 or -1.
    @inline(__always)
    static func lanes(_ bits: UInt64) -> ByteLanes {
        let spread = SIMD2<UInt64>(
            (bits & 0xff) &* 0x0101_0101_0101_0101, (bits &>> 8 & 0xff) &* 0x0101_0101_0101_0101)
        let ones = unsafe unsafeBitCast(SIMD2<UInt64>(repeating: 0x8040_2010_0804_0201), to: SIMD16<UInt8>.self)
        return unsafe unsafeBitCast((unsafeBitCast(spread, to: SIMD16<UInt8>.self) & ones) .== ones, to: ByteLanes.self)
    }
}
