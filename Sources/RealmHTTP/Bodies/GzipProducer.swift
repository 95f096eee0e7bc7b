// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// A producer that compresses what another producer makes, for streamed responses with
/// `Content-Encoding: gzip`.
final class GzipProducer: ChunkProducer {
    private let source: any ChunkProducer
    private let deflater: GzipDeflater

    /// Thrown when zlib cannot go on, which happens only for want of memory. It cuts the stream
    /// off.
    struct Failure: Error {}

    /// Compresses the output of another producer; nil when zlib has no memory for a stream.
    ///
    /// - Parameter source: The producer of the plain content. It must not be used otherwise.
    init?(_ source: any ChunkProducer) {
        guard let deflater = GzipDeflater() else { return nil }
        self.source = source
        self.deflater = deflater
    }

    /// Appends the compressed form of the next chunks: at least one of them, and as many as it
    /// takes until zlib emits something, because zlib collects text until it has enough for a
    /// block.
    ///
    /// - Parameter buffer: Receives the compressed bytes.
    /// - Returns: Whether this was the end of the body.
    /// - Throws: The error of the source, or `Failure`.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        let plain = OutputBuffer(capacity: Streaming.chunkBytes + (8 << 10))
        var isEnd = false
        repeat {
            plain.removeAll()
            isEnd = try source.produce(into: plain)
            guard deflater.deflate(plain, isEnd: isEnd, into: buffer) else { throw Failure() }
        } while !isEnd && buffer.isEmpty
        return isEnd
    }
}
