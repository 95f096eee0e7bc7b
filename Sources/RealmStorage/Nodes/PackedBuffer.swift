// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Packed elements in memory of their own, encoded as in a node. For tests and benchmarks of the kernels.
///
/// The memory ends with the last word of the payload, directly in front of a page that cannot be
/// read, so that a kernel that reads too far crashes at once.
///
/// `@unchecked Sendable`: filled in `init` and never written again.
@safe package final class PackedBuffer: @unchecked Sendable {
    /// The size of a page in bytes, the unit of memory protection.
    private static let pageByteCount = 4096

    /// The first byte of the pages with the payload, which are followed by one that cannot be read.
    private let mapping: UnsafeMutableRawPointer
    /// The size of the mapping in bytes.
    private let mappedByteCount: Int
    /// The first byte of the elements.
    private let payload: UnsafeMutableRawPointer
    /// The code of the elements' width, 0 to 7.
    private let widthCode: Int
    /// How many elements were encoded.
    private let count: Int

    /// A view of the elements, which is valid while this object is alive.
    package var integers: PackedIntegers { unsafe PackedIntegers(payload: payload, widthCode: widthCode, count: count) }

    /// Returns the elements as a node: bit-packed, or with whole bytes as float and double leaves have it.
    package func node(asNumbers: Bool = false) -> Node {
        let code = UInt64(asNumbers ? widthCode - 3 : widthCode) | (asNumbers ? 8 : 0)
        let size = UInt64(UInt32(count).byteSwapped >> 8)
        return unsafe Node(payload: payload, ref: Ref(8), header: size << 40 | code << 32)
    }

    /// Encodes the lowest bits of `values`.
    ///
    /// - Parameters:
    ///   - values: The elements.
    ///   - widthCode: The width, 0...7 for 0, 1, 2, 4, 8, 16, 32, 64 bits.
    /// - Throws: `.io` when there is no memory.
    package init(_ values: [Int64], widthCode: Int) throws(StorageError) {
        precondition((0...7).contains(widthCode), "width code \(widthCode)")
        let width = (1 << widthCode) >> 1
        let byteCount = (values.count * width + 63) / 64 * 8
        let pages = (byteCount + PackedBuffer.pageByteCount - 1) / PackedBuffer.pageByteCount
        mappedByteCount = (pages + 1) * PackedBuffer.pageByteCount
        unsafe mapping = try unsafe System.mapAnonymous(byteCount: mappedByteCount)
        unsafe System.protect(mapping + pages * PackedBuffer.pageByteCount, byteCount: PackedBuffer.pageByteCount)
        // In bounds: the payload fills the readable pages from their end backwards.
        unsafe payload = unsafe mapping + pages * PackedBuffer.pageByteCount - byteCount
        self.widthCode = widthCode
        count = values.count
        for index in 0..<byteCount { unsafe payload.storeBytes(of: 0xa5, toByteOffset: index, as: UInt8.self) }
        for (index, value) in values.enumerated() where width > 0 { store(value, at: index, width: width) }
    }

    deinit { unsafe System.unmap(mapping, byteCount: mappedByteCount) }

    /// Stores an element. It is in bounds, as the payload was measured for all of them.
    private func store(_ value: Int64, at index: Int, width: Int) {
        let bit = index * width
        let word = unsafe payload.load(fromByteOffset: bit / 64 * 8, as: UInt64.self)
        let ones: UInt64 = (width == 64 ? .max : (1 << UInt64(width)) - 1) << UInt64(bit & 63)
        let shifted = UInt64(bitPattern: value) << UInt64(bit & 63)
        unsafe payload.storeBytes(of: word & ~ones | shifted & ones, toByteOffset: bit / 64 * 8, as: UInt64.self)
    }
}
