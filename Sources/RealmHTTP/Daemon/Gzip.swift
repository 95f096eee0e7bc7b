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
        var stream = z_stream()
        // 31 is the largest window plus the demand for a gzip header.
        guard inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { throw .malformed }
        defer { inflateEnd(&stream) }
        var input = bytes
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var failure: Failure?
        input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            failure = inflateAll(&stream, &piece, &output, limit)
        }
        if let failure { throw failure }
        return output
    }

    private static func inflateAll(
        _ stream: inout z_stream, _ piece: inout [UInt8], _ output: inout [UInt8], _ limit: Int
    ) -> Failure? {
        while true {
            let (code, count) = piece.withUnsafeMutableBufferPointer { target -> (Int32, Int) in
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                let code = CZlib.inflate(&stream, Z_NO_FLUSH)
                return (code, target.count - Int(stream.avail_out))
            }
            guard output.count + count <= limit else { return .tooLarge }
            output.append(contentsOf: piece[..<count])
            switch code {
            case Z_STREAM_END:
                if stream.avail_in == 0 { return nil }
                guard inflateReset(&stream) == Z_OK else { return .malformed }
            case Z_OK:
                if count == 0, stream.avail_in == 0 { return .malformed }
            default: return .malformed
            }
        }
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
final class GzipDeflater: @unchecked Sendable {
    private var stream = z_stream()

    /// Level 4 costs about a third of the usual 6 and gives away a few per cent.
    init?(level: Int32 = 4) {
        let code = deflateInit2_(
            &stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { return nil }
    }

    deinit { deflateEnd(&stream) }

    /// Packs `source` and appends what comes out; everything comes out when `isEnd`.
    func deflate(_ source: OutputBuffer, isEnd: Bool, into target: OutputBuffer) -> Bool {
        source.withBytes { bytes in
            stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            stream.avail_in = UInt32(bytes.count)
            while true {
                let room = 32 << 10
                stream.next_out = target.reserve(room)
                stream.avail_out = UInt32(room)
                let code = CZlib.deflate(&stream, isEnd ? Z_FINISH : Z_NO_FLUSH)
                target.advance(room - Int(stream.avail_out))
                if code == Z_STREAM_END { return true }
                guard code == Z_OK || code == Z_BUF_ERROR else { return false }
                if stream.avail_out > 0, !isEnd { return true }
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
