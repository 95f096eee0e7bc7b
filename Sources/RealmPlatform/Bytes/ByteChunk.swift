// SPDX-License-Identifier: Apache-2.0

/// Memory for the bytes of many values, which stay at their addresses, so that each value needs no memory of its own.
///
/// `@unchecked Sendable`: one thread appends before it passes the chunk on, and none afterwards; appended bytes never change.
///
/// The user of a view keeps the chunk alive for as long, with `withExtendedLifetime` where the optimizer could otherwise release
/// it early.
@safe package struct ByteChunk: @unchecked Sendable {
    /// The bytes behind the number of those that are used.
    private let buffer: ManagedBuffer<Int, UInt8>
    /// The number of bytes that fit.
    private let capacity: Int

    /// Makes memory for so many bytes.
    package init(capacity: Int) {
        self.capacity = capacity
        buffer = .create(minimumCapacity: capacity) { _ in 0 }
    }

    /// Copies bytes into the chunk, and returns a view of the copy; nil when there is no room for them.
    package func append(_ bytes: ByteView) -> ByteView? {
        guard let source = unsafe bytes.start, bytes.count > 0 else { return .empty }
        return unsafe buffer.withUnsafeMutablePointers { used, start in
            guard unsafe bytes.count <= capacity &- used.pointee else { return nil }
            let place = unsafe start + used.pointee
            unsafe place.initialize(from: source, count: bytes.count)
            unsafe used.pointee += bytes.count
            return unsafe ByteView(start: UnsafePointer(place), count: bytes.count)
        }
    }
}
