// SPDX-License-Identifier: Apache-2.0

/// Produces the body of a streamed response piece by piece, on any free worker thread.
///
/// Calls never overlap. `StreamBody` calls it when the client has room for more, and releases it
/// without notice when the client leaves; a producer cleans up in `deinit`.
package protocol ChunkProducer: AnyObject, Sendable {
    /// Appends the next piece of the body, about `Streaming.chunkBytes` long.
    ///
    /// - Parameter buffer: Receives the bytes; it is empty at the call.
    /// - Returns: Whether this was the end of the body.
    /// - Throws: Any error; the stream is cut off then, and the client notices that the last chunk
    ///   is missing.
    func produce(into buffer: OutputBuffer) throws -> Bool
}
