// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Keeps the buffer of a response alive while libmicrohttpd sends from it.
///
/// The library holds one reference as the context of a response, and releases it, on any of its
/// threads, when the response is not needed any more.
final class BufferInTransit {
    private let buffer: OutputBuffer
    /// What the buffer uses of the memory for unsent responses; returned when this object is
    /// released.
    private let holding: ByteHolding?

    /// Keeps a buffer, and the memory that is reserved for it, until the library releases this object.
    ///
    /// - Parameters:
    ///   - buffer: The complete body, which is not changed any more.
    ///   - holding: The part of the memory for unsent responses that the buffer takes; nil for short or
    ///     shared bodies, which are not counted.
    init(_ buffer: OutputBuffer, _ holding: ByteHolding?) {
        self.buffer = buffer
        self.holding = holding
    }
}
