// SPDX-License-Identifier: Apache-2.0

/// Makes the body of a streamed answer piece by piece, on whatever worker thread has time.
///
/// Calls never overlap. A producer is let go without notice when the client leaves; `deinit` is the place to clean up.
package protocol ChunkProducer: AnyObject, Sendable {
    /// Appends about `Streaming.chunkBytes` more and tells whether that was the end.
    ///
    /// An error cuts the stream: the client sees that the last chunk is missing.
    func produce(into buffer: OutputBuffer) throws -> Bool
}
