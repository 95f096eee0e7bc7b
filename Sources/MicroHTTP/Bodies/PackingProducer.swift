// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A producer that compresses the output of another producer, for streamed responses with `Content-Encoding`.
package final class PackingProducer: ChunkProducer {
    private let source: any ChunkProducer
    private let compressor: any StreamCompressor

    /// Thrown when the library fails, which happens only without memory. It cuts the stream off.
    struct Failure: Error {}

    /// Compresses the output of another producer; nil when there is no memory for a stream.
    ///
    /// - Parameters:
    ///   - source: The producer of the plain content. It must not be used otherwise.
    ///   - coding: The form of the compressed content.
    package init?(_ source: any ChunkProducer, _ coding: ContentCoding) {
        guard let compressor = coding.makeCompressor() else { return nil }
        self.source = source
        self.compressor = compressor
    }

    /// Appends the compressed form of the next chunks: at least one of them, and as many as it takes until something comes out,
    /// because text is collected until there is enough for a block.
    ///
    /// - Parameter buffer: Receives the compressed bytes.
    /// - Returns: Whether this was the end of the body.
    /// - Throws: The error of the source, or `Failure`.
    package func produce(into buffer: OutputBuffer) throws -> Bool {
        let plain = OutputBuffer(capacity: Streaming.chunkBytes + (8 << 10))
        var isEnd = false
        repeat {
            plain.removeAll()
            isEnd = try source.produce(into: plain)
            guard compressor.compress(plain, isEnd: isEnd, into: buffer) else { throw Failure() }
        } while !isEnd && buffer.isEmpty
        return isEnd
    }
}
