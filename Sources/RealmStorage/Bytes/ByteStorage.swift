// SPDX-License-Identifier: Apache-2.0

/// Owns bytes that `ByteView`s point to: query constants, decoded values, joined split values.
///
/// `@unchecked Sendable`: the buffer is filled in `init` and never written again.
///
/// The user of `view` keeps this object alive for as long, with `withExtendedLifetime` where the
/// optimizer could otherwise release it early.
@safe package final class ByteStorage: @unchecked Sendable {
    /// The copied bytes, which are never written after `init`.
    private let buffer: UnsafeMutableBufferPointer<UInt8>

    /// Makes storage with a copy of `bytes`.
    package init(_ bytes: some Collection<UInt8>) {
        unsafe buffer = .allocate(capacity: bytes.count)
        _ = unsafe buffer.initialize(from: bytes)
    }

    /// Makes storage with a copy of the UTF-8 bytes of `text`.
    package init(_ text: String) {
        var text = text
        unsafe buffer = text.withUTF8 { bytes in
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = unsafe copy.initialize(from: bytes)
            return unsafe copy
        }
    }

    deinit { unsafe buffer.deallocate() }

    /// A view of the bytes, which is valid while this object is alive.
    package var view: ByteView { unsafe ByteView(start: UnsafePointer(buffer.baseAddress), count: buffer.count) }
}
