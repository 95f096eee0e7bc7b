// SPDX-License-Identifier: Apache-2.0

/// Owns bytes that `ByteView`s point to: query constants, decoded values, joined split values.
///
/// Copies share the bytes, which lie behind their number in one piece of memory.
///
/// `@unchecked Sendable`: the buffer is filled in `init` and never written again.
///
/// The user of `view` keeps this value alive for as long, with `withExtendedLifetime` where the
/// optimizer could otherwise release it early.
@safe package struct ByteStorage: @unchecked Sendable {
    /// The copied bytes, which are never written after `init`, behind their number.
    private let buffer: ManagedBuffer<Int, UInt8>

    /// Makes storage with a copy of `bytes`.
    package init(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        buffer = .create(minimumCapacity: count) { _ in count }
        unsafe buffer.withUnsafeMutablePointerToElements { start in
            _ = unsafe UnsafeMutableBufferPointer(start: start, count: count).initialize(from: bytes)
        }
    }

    /// Makes storage with a copy of the UTF-8 bytes of `text`.
    package init(_ text: String) {
        var text = text
        self = text.withUTF8 { unsafe ByteStorage($0) }
    }

    /// A view of the bytes, which is valid while this value or a copy of it is alive.
    package var view: ByteView {
        // The elements lie in the buffer itself, so their address is the same for as long as there is the buffer.
        unsafe buffer.withUnsafeMutablePointers { count, start in
            unsafe ByteView(start: UnsafePointer(start), count: count.pointee)
        }
    }
}
