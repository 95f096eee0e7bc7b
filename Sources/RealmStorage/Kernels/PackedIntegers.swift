// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The elements of a bit-packed node: widths 0, 1, 2, 4 are unsigned; 8, 16, 32, 64 are signed and little endian.
///
/// Elements with lower indexes are in lower bits of their byte. Kernels that compare or fold whole
/// runs are in `PackedIntegers+Compare.swift` and `PackedIntegers+Fold.swift`.
///
/// `@unchecked Sendable`: it borrows memory of a snapshot, which never changes (see `Node`).
@safe package struct PackedIntegers: @unchecked Sendable {
    /// The first byte of the elements, in the memory of the snapshot or of the transaction.
    @usableFromInline let payload: UnsafeRawPointer
    /// The number of elements, which is below 2^24. It is stored in 32 bits because leaves consist of several of these values.
    @usableFromInline let storedCount: UInt32
    /// The code of the width, 0 to 7, stored in one byte; see `widthCode`.
    @usableFromInline let storedWidthCode: UInt8

    /// Makes a view of elements; the caller guarantees that `payload` has at least `count` elements of the width.
    @inlinable init(payload: UnsafeRawPointer, widthCode: Int, count: Int) {
        unsafe self.payload = unsafe payload
        storedWidthCode = UInt8(truncatingIfNeeded: widthCode)
        storedCount = UInt32(count)
    }

    /// Makes a view of elements of 64 bits, which the caller keeps in memory.
    ///
    /// - Parameter words: The elements, eight bytes each, the lowest first.
    init(words: ByteView) {
        guard let start = unsafe words.start else { preconditionFailure("elements have an address") }
        self = unsafe PackedIntegers(payload: UnsafeRawPointer(start), widthCode: 7, count: words.count / 8)
    }

    /// The code of the width in a node's header, 0 to 7: widths 0, 1, 2, 4, 8, 16, 32 and 64.
    @inlinable var widthCode: Int { Int(storedWidthCode) }
    /// How many elements the packed array has.
    @inlinable package var count: Int { Int(storedCount) }

    /// The number of bits per element.
    @inlinable package var width: Int { (1 << widthCode) >> 1 }

    /// The element at `index`, which must be in `0..<count`; only debug builds check it.
    @inlinable @inline(__always) package subscript(index: Int) -> Int64 {
        assert(index >= 0 && index < count)
        return unsafe PackedIntegers.load(payload, widthCode: widthCode, index: index)
    }

    /// Reads one element.
    ///
    /// The read is in bounds because the caller's index is below the node's count, and attaching
    /// the node proved that `count` elements lie inside the file.
    @inlinable @inline(__always)
    static func load(_ payload: UnsafeRawPointer, widthCode: Int, index: Int) -> Int64 {
        switch widthCode {
        case 0: return 0
        case 1: return unsafe Int64(payload.load(fromByteOffset: index >> 3, as: UInt8.self) >> UInt8(index & 7) & 1)
        case 2: return unsafe Int64(payload.load(fromByteOffset: index >> 2, as: UInt8.self) >> UInt8((index & 3) << 1) & 3)
        case 3: return unsafe Int64(payload.load(fromByteOffset: index >> 1, as: UInt8.self) >> UInt8((index & 1) << 2) & 15)
        case 4: return unsafe Int64(payload.load(fromByteOffset: index, as: Int8.self))
        case 5: return unsafe Int64(Int16(littleEndian: payload.loadUnaligned(fromByteOffset: index << 1, as: Int16.self)))
        case 6: return unsafe Int64(Int32(littleEndian: payload.loadUnaligned(fromByteOffset: index << 2, as: Int32.self)))
        default: return unsafe Int64(littleEndian: payload.loadUnaligned(fromByteOffset: index << 3, as: Int64.self))
        }
    }
}
