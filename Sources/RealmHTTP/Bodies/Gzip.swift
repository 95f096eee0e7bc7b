// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// The gzip content coding, by zlib.
package enum Gzip {
    /// Why bytes were not unpacked.
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
