// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// Packs what another producer makes.
final class GzipProducer: ChunkProducer {
    private let source: any ChunkProducer
    private let deflater: GzipDeflater

    /// zlib refused to go on, which it does for want of memory only.
    struct Failure: Error {}

    /// Packs what `source` produces; nil when zlib has no memory for a stream.
    init?(_ source: any ChunkProducer) {
        guard let deflater = GzipDeflater() else { return nil }
        self.source = source
        self.deflater = deflater
    }

    /// Packs the next chunk. Little may come out for it: zlib keeps text until it has enough for a block.
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
