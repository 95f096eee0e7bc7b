// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// Packs what another producer makes.
final class GzipProducer: ChunkProducer {
    private let source: any ChunkProducer
    private let deflater: GzipDeflater

    struct Failure: Error {}

    init?(_ source: any ChunkProducer) {
        guard let deflater = GzipDeflater() else { return nil }
        self.source = source
        self.deflater = deflater
    }

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
