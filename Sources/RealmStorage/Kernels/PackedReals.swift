// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The elements of a float or double node, in which null is one particular NaN.
///
/// Comparisons are either those of IEEE 754, in which a NaN is unequal to everything and unordered, or those of the *general
/// order*, in which NaN is below every number and equals an identical NaN. Null, though stored as a NaN, takes part in neither.
///
/// `@unchecked Sendable`: it borrows memory of a snapshot, which never changes (see `Node`).
@safe struct PackedReals<Real: PackedReal>: @unchecked Sendable {
    /// The first byte of the numbers, at any alignment.
    let payload: UnsafeRawPointer
    /// How many numbers the packed array has.
    let count: Int

    /// Makes a view of `count` elements at `payload`; the caller guarantees that all are inside of the node that holds them.
    @inline(__always)
    init(payload: UnsafeRawPointer, count: Int) {
        unsafe self.payload = unsafe payload
        self.count = count
    }

    /// Returns the bits of the number in `row`, which must be in `0..<count`; only debug builds check it.
    @inline(__always)
    func bits(_ row: Int) -> Real.Bits {
        assert(row >= 0 && row < count)
        return unsafe payload.loadUnaligned(fromByteOffset: row &* Real.Bits.byteCount, as: Real.Bits.self)
    }

    /// Returns the number in `row`; null is returned as its NaN.
    @inline(__always)
    func number(_ row: Int) -> Real { Real(packedBits: bits(row)) }

    /// Traps when a run is not inside the elements or is longer than a mask. That would be a bug of
    /// the caller, as counts are compared when a leaf is attached.
    @inline(__always)
    func checkRun(_ start: Int, _ count: Int) {
        precondition(
            start >= 0 && count >= 0 && count <= Mask.capacity && start <= self.count - count,
            "a run outside its numbers")
    }
}
