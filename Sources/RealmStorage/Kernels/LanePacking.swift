// SPDX-License-Identifier: Apache-2.0

internal import CProcessor

/// Packing of compared lanes into mask bits.
///
/// Vector compares give a lane of all bits for "yes". Packing takes one bit of each lane, which the processor does for sixteen
/// lanes of bytes with one instruction, so wider lanes are narrowed to bytes first.
enum LanePacking {
    /// Four times 16 lanes as 64 bits, first lane lowest.
    @inline(__always)
    static func word(of a: ByteLanes, _ b: ByteLanes, _ c: ByteLanes, _ d: ByteLanes) -> UInt64 {
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

/// The way back from masks to lanes, for kernels that combine both.
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
