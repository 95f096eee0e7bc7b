// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Produces the body of a streamed response piece by piece, on any free worker thread.
///
/// Calls never overlap. `StreamBody` calls it when the client has room for more, and releases it
/// without notice when the client leaves; a producer cleans up in `deinit`.
package protocol ChunkProducer: AnyObject, Sendable {
    /// The length in bytes of a body that exists already as a whole, for `Content-Length`. It no longer needs a version of a
    /// realm. Nil for a body that is made while it is sent.
    var completeByteCount: Int? { get }

    /// Appends the next piece of the body, about `Streaming.chunkBytes` long.
    ///
    /// - Parameter buffer: Receives the bytes; it is empty at the call.
    /// - Returns: Whether this was the end of the body.
    /// - Throws: Any error; the stream is cut off then, and the client notices that the last chunk
    ///   is missing.
    func produce(into buffer: OutputBuffer) throws -> Bool
}

extension ChunkProducer {
    /// Most bodies are made while they are sent.
    package var completeByteCount: Int? { nil }
}

/// The sizes of streamed responses.
package enum Streaming {
    /// The number of bytes that a producer should make in one call.
    package static let chunkBytes = 64 << 10
    /// The number of finished chunks that may wait for the client before the producer pauses.
    package static let queuedChunks = 4
}
