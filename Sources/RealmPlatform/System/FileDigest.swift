// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// SHA-256 of files, read piece by piece.
package enum FileDigest {
    /// The number of bytes in memory at a time.
    private static let pieceByteCount = 1 << 20

    /// Returns the digest of a part of a file. The calling thread waits for the disk.
    ///
    /// - Parameters:
    ///   - descriptor: The open file.
    ///   - range: The part, in bytes from the start of the file.
    /// - Returns: The digest, of 32 bytes.
    /// - Throws: `StorageError.io` when reading fails, or the file ends before the part does.
    package static func sha256(_ descriptor: Int32, _ range: Range<Int>) throws(StorageError) -> [UInt8] {
        var digest = try DigestContext()
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = try System.read(descriptor, at: offset, byteCount: min(pieceByteCount, range.upperBound - offset))
            guard !bytes.isEmpty else { throw .io(operation: "read", errno: EIO) }
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in try digest.add(view) }
            offset += bytes.count
        }
        return try digest.finish()
    }

    /// Returns the digest of a whole file. The calling thread waits for the disk.
    ///
    /// - Parameter descriptor: The open file.
    /// - Returns: The digest, of 32 bytes.
    /// - Throws: `StorageError.io` when reading fails, or the file is shortened meanwhile.
    package static func sha256(_ descriptor: Int32) throws(StorageError) -> [UInt8] {
        try sha256(descriptor, 0..<System.regularFileSize(descriptor))
    }

    /// Returns the digest of bytes in memory.
    ///
    /// - Throws: `StorageError.io` when the crypto library fails.
    package static func sha256(_ bytes: [UInt8]) throws(StorageError) -> [UInt8] { try DigestContext.digest(of: bytes) }

    /// Returns a digest as text of lower-case hexadecimal digits.
    package static func hex(_ digest: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text: [UInt8] = digest.flatMap { byte in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a digest from 64 hexadecimal digits; nil for any other text.
    package static func bytes(ofHex text: String) -> [UInt8]? {
        HexReader.bytes(of: text, byteCount: DigestContext.digestByteCount)
    }
}
