// SPDX-License-Identifier: Apache-2.0

internal import CProcessor
internal import RealmPlatform

/// Packing of compared lanes into mask bits.
///
/// Vector compares result in lanes of all bits for "yes" and none for "no". Packing takes one bit of each lane, which the
/// processor does for sixteen lanes of bytes with one instruction, so wider lanes are narrowed to bytes first.
enum LanePacking {
    /// Packs four vectors of 16 lanes into 64 bits; the first lane of the first vector is the lowest bit.
    @inline(__always)
    static func word(of a: ByteLanes, _ b: ByteLanes, _ c: ByteLanes, _ d: ByteLanes) -> UInt64 {
        let low = UInt64(realm_rest_signs(a)) | UInt64(realm_rest_signs(b)) &<< 16
        let high = UInt64(realm_rest_signs(c)) | UInt64(realm_rest_signs(d)) &<< 16
        return low | high &<< 32
    }

    /// Narrows lanes of 16 bits to lanes of 8 bits.
    @inline(__always)
    static func narrowed(_ lanes: SIMD16<Int16>) -> ByteLanes { ByteLanes(truncatingIfNeeded: lanes) }

    /// Narrows lanes of 32 bits to lanes of 8 bits, in the two steps that vector units have instructions for.
    @inline(__always)
    static func narrowed(_ lanes: SIMD16<Int32>) -> ByteLanes {
        narrowed(
            SIMD16<Int16>(
                lowHalf: SIMD8<Int16>(truncatingIfNeeded: lanes.lowHalf),
                highHalf: SIMD8<Int16>(truncatingIfNeeded: lanes.highHalf)))
    }

    /// Narrows lanes of 64 bits to lanes of 8 bits. All bits of a lane are equal, so its lower 32 bits are enough.
    @inline(__always)
    static func narrowed(_ lanes: SIMD16<Int64>) -> ByteLanes {
        unsafe narrowed(unsafeBitCast(lanes, to: SIMD32<Int32>.self).evenHalf)
    }
}

/// Expansion of mask bits to lanes, for kernels that combine both.
extension LanePacking {
    /// Expands the lowest 16 bits of `bits` to lanes of 0 (not set) or -1 (set).
    @inline(__always)
    static func lanes(_ bits: UInt64) -> ByteLanes {
        let spread = SIMD2<UInt64>(
            (bits & 0xff) &* 0x0101_0101_0101_0101, (bits &>> 8 & 0xff) &* 0x0101_0101_0101_0101)
        let ones = unsafe unsafeBitCast(SIMD2<UInt64>(repeating: 0x8040_2010_0804_0201), to: SIMD16<UInt8>.self)
        return unsafe unsafeBitCast((unsafeBitCast(spread, to: SIMD16<UInt8>.self) & ones) .== ones, to: ByteLanes.self)
    }
}
