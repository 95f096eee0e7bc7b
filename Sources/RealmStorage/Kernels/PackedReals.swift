// SPDX-License-Identifier: Apache-2.0

/// The elements of a float or double node, with null as one particular NaN.
///
/// Compares are either IEEE 754's, in which a NaN is unequal to everything and unordered, or those of the *general
/// order*, in which NaN is below every number and equals an identical NaN. Null, though stored as a NaN, takes
/// part in neither.
///
/// `@unchecked Sendable`: borrowed, never-changing memory of a snapshot (see `Node`).
@safe struct PackedReals<Real: PackedReal>: @unchecked Sendable {
    /// The first byte of the elements.
    let payload: UnsafeRawPointer
    /// The number of elements.
    let count: Int

    /// `count` elements at `payload`, all inside of the node that holds them.
    @inline(__always)
    init(payload: UnsafeRawPointer, count: Int) {
        unsafe self.payload = unsafe payload
        self.count = count
    }

    /// In bounds: the caller's row is below the count.
    @inline(__always)
    func bits(_ row: Int) -> Real.Bits {
        assert(row >= 0 && row < count)
        return unsafe payload.loadUnaligned(fromByteOffset: row &* Real.Bits.byteCount, as: Real.Bits.self)
    }

    /// The number in `row`; null reads as its NaN.
    @inline(__always)
    func number(_ row: Int) -> Real { Real(packedBits: bits(row)) }

    /// A run outside the elements would be a bug of the caller: counts were compared when the leaf was attached.
    @inline(__always)
    func checkRun(_ start: Int, _ count: Int) {
        precondition(
            start >= 0 && count >= 0 && count <= Mask.capacity && start <= self.count - count,
            "a run outside its numbers")
    }
}
