// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// The gzip content coding, by zlib.
package enum Gzip {
    package enum Failure: Error, Equatable {
        /// The bytes are no complete gzip stream.
        case malformed
        /// More than `limit` bytes came out.
        case tooLarge
    }

    /// What `bytes` expand to; several members after each other are one stream.
    package static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        guard let inflater = GzipInflater() else { throw .malformed }
        var output: [UInt8] = []
        let isSound = try inflater.inflate(bytes) { piece throws(Failure) in
            guard output.count + piece.count <= limit else { throw .tooLarge }
            output += piece
        }
        guard isSound, inflater.isComplete else { throw .malformed }
        return output
    }

    /// The whole of `buffer` as a gzip stream.
    package static func deflate(_ buffer: OutputBuffer) -> OutputBuffer? {
        let target = OutputBuffer(capacity: buffer.count / 4 + 128)
        guard let deflater = GzipDeflater(), deflater.deflate(buffer, isEnd: true, into: target) else { return nil }
        return target
    }
}

/// A gzip stream under construction.
///
/// `@unchecked Sendable`: used by one thread at a time, as a producer is.
@safe final class GzipDeflater: @unchecked Sendable {
    private var stream = unsafe z_stream()

    /// Level 4 costs about a third of the usual 6 and gives away a few per cent.
    init?(level: Int32 = 4) {
        let code = unsafe deflateInit2_(
            &stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { return nil }
    }

    deinit { unsafe deflateEnd(&stream) }

    /// Packs `source` and appends what comes out; everything comes out when `isEnd`.
    func deflate(_ source: OutputBuffer, isEnd: Bool, into target: OutputBuffer) -> Bool {
        unsafe source.withBytes { bytes in
            unsafe stream.next_in = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe stream.avail_in = UInt32(bytes.count)
            while true {
                let room = 32 << 10
                unsafe stream.next_out = unsafe target.reserve(room)
                unsafe stream.avail_out = UInt32(room)
                let code = unsafe CZlib.deflate(&stream, isEnd ? Z_FINISH : Z_NO_FLUSH)
                unsafe target.advance(room - Int(stream.avail_out))
                if code == Z_STREAM_END { return true }
                guard code == Z_OK || code == Z_BUF_ERROR else { return false }
                if unsafe stream.avail_out > 0, !isEnd { return true }
            }
        }
    }
}

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
