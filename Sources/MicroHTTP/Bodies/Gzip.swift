// SPDX-License-Identifier: Apache-2.0

internal import CZlib
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The gzip content coding for whole bodies in memory, by means of zlib.
package enum Gzip {
    /// The reason why bytes could not be decompressed.
    package enum Failure: Error, Equatable {
        /// The bytes are no complete gzip stream.
        case malformed
        /// The decompressed form is larger than the limit of the caller.
        case tooLarge
    }

    /// Decompresses a gzip stream; several members that follow each other count as one.
    ///
    /// - Parameters:
    ///   - bytes: The whole stream.
    ///   - limit: The largest permitted size of the result, in bytes. It stops small inputs that
    ///     expand to gigabytes.
    /// - Returns: The decompressed bytes.
    /// - Throws: `Failure.malformed`, or `Failure.tooLarge` as soon as the limit is exceeded.
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

    /// Compresses the whole of a buffer into a new one.
    ///
    /// - Parameter buffer: The bytes to compress; they are not changed.
    /// - Returns: A complete gzip stream; nil when zlib has no memory.
    package static func deflate(_ buffer: OutputBuffer) -> OutputBuffer? {
        ContentCoding.gzip.compress(buffer)
    }
}
