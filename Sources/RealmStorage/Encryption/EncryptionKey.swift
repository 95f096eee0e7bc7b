// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The 64 bytes that encrypt a file: 32 for AES-256, 32 for HMAC-SHA-224.
///
/// Its description does not show the bytes, so that a key cannot get into a log by accident.
package struct EncryptionKey: Sendable, Equatable {
    /// The size of a key in bytes.
    package static let byteCount = 64

    /// All 64 bytes of the key.
    package let bytes: [UInt8]

    /// The key of the cipher: the first half.
    var cipherKey: ArraySlice<UInt8> { bytes[..<32] }
    /// The key of the authentication code: the second half.
    var authenticationKey: ArraySlice<UInt8> { bytes[32...] }

    /// Makes a key from its bytes; throws `.refused(.encryptionKeyMalformed)` unless there are 64.
    package init(bytes: [UInt8]) throws(StorageError) {
        guard bytes.count == EncryptionKey.byteCount else {
            throw .refused(.encryptionKeyMalformed("an encryption key has 64 bytes, this one has \(bytes.count)"))
        }
        self.bytes = bytes
    }

    /// Reads 128 hex digits, or base64 of 64 bytes. White space around them is ignored.
    ///
    /// - Throws: `.refused(.encryptionKeyMalformed)` for any other text; the message does not
    ///   repeat the text.
    package init(text: String) throws(StorageError) {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let trimmed = Array(Array(text.utf8.drop(while: isSpace).reversed()).drop(while: isSpace).reversed())
        let hex = HexReader.bytes(of: String(decoding: trimmed, as: UTF8.self), byteCount: EncryptionKey.byteCount)
        guard let bytes = hex ?? Base64.decode(trimmed), bytes.count == EncryptionKey.byteCount else {
            throw .refused(
                .encryptionKeyMalformed(
                    "an encryption key is given as 128 hex digits or as base64 of 64 bytes; this is neither"))
        }
        self.bytes = bytes
    }

    /// Reads a key from a small file: a text as of `init(text:)`, or the 64 bytes themselves.
    ///
    /// Bytes that are a text are no key, so a password or half a key is not taken for one.
    ///
    /// - Throws: `.refused` when there is no such file or when it does not hold a key.
    package init(contentsOfFile path: String) throws(StorageError) {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        let byteCount = try System.regularFileSize(descriptor)
        // This leaves room for white space; a longer file is not a key.
        guard (1...1024).contains(byteCount) else {
            throw .refused(
                .encryptionKeyMalformed("a key file has 128 hex digits, base64 of 64 bytes, or 64 bytes, not \(byteCount) bytes"))
        }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        let bytes = withExtendedLifetime(mapping) { mapping.bytes.array }
        let isPlain = bytes.allSatisfy { (0x20..<0x7f).contains($0) || (0x09...0x0d).contains($0) }
        if bytes.count == EncryptionKey.byteCount, !isPlain {
            try self.init(bytes: bytes)
        } else {
            try self.init(text: String(decoding: bytes, as: UTF8.self))
        }
    }
}

/// A description and a mirror that keep the key out of logs and debuggers.
extension EncryptionKey: CustomStringConvertible, CustomReflectable {
    /// The words "encryption key"; the bytes are never shown.
    package var description: String { "encryption key" }
    /// A mirror without children; the bytes are never shown.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
