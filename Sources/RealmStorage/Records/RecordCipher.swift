// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Encrypts records of an encrypted realm in the log, and the identities of requests.
///
/// Each record has a key of its own, which is derived from that of the realm and 32 random bytes. So neither the number of records nor
/// several nodes with the same key are a danger, as they would be with random vectors of 12 bytes under one key. An encrypted record is
///
/// | bytes | field |
/// |---|---|
/// | 1 | the number of this layout |
/// | 32 | random bytes |
/// | 16 | a code of these under the key of the realm, to distinguish a wrong key from damage |
/// | | the record, by AES-256-GCM |
/// | 16 | its tag |
package enum RecordCipher {
    private static let layout: UInt8 = 1
    /// The number of random bytes.
    private static let saltByteCount = 32
    /// The number of bytes of the code that identifies the key.
    private static let codeByteCount = 16

    /// The purposes of keys, each derived from the key of the realm.
    private enum Purpose: String {
        case records = "realm-rest: encrypts records"
        case codes = "realm-rest: identifies the key of records"
        case requests = "realm-rest: hides requests"
    }

    /// Encrypts the bytes of a record.
    ///
    /// - Parameters:
    ///   - plain: The bytes.
    ///   - header: The plain bytes stored before them; decryption needs the same ones.
    ///   - key: The key of the realm.
    /// - Throws: `.io` when the crypto library fails.
    static func seal(_ plain: [UInt8], after header: [UInt8], _ key: EncryptionKey) throws(StorageError) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<saltByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let sealed = try SealingContext(.encrypts, key: derived(.records, salt, key)).seal(plain, with: header)
        return [layout] + salt + (try code(of: salt, key)) + sealed
    }

    /// Decrypts the bytes of a record.
    ///
    /// - Parameters:
    ///   - bytes: The result of `seal`.
    ///   - header: The bytes stored before them.
    ///   - key: The key of the realm.
    /// - Throws: `.refused(.encryptionKeyWrong)` for another key; `.corrupt` when the bytes or the header were changed.
    static func open(
        _ bytes: ArraySlice<UInt8>, after header: [UInt8], _ key: EncryptionKey
    ) throws(StorageError) -> [UInt8] {
        var reader = RecordReader(bytes)
        guard try reader.byte() == layout else { throw RecordReader.damaged("it is encrypted in an unknown way") }
        let salt = Array(try reader.raw(saltByteCount))
        guard SecretDigest.areEqual(Array(try reader.raw(codeByteCount)), try code(of: salt, key)) else {
            throw .refused(.encryptionKeyWrong("the records of the log were encrypted with another key"))
        }
        let sealed = Array(try reader.raw(reader.rest))
        guard let plain = try SealingContext(.decrypts, key: derived(.records, salt, key)).open(sealed, with: header) else {
            throw RecordReader.damaged("it was changed after it was encrypted")
        }
        return plain
    }

    /// Returns the form of a request for the log. Without the key, a guessed request cannot be confirmed.
    ///
    /// - Parameters:
    ///   - key: The key of the realm; nil for one that is not encrypted, whose requests are digests only.
    package static func hidden(_ request: CommittedRequest, _ key: EncryptionKey?) throws(StorageError) -> CommittedRequest {
        guard let key else { return request }
        let name = try derived(.requests, Array("name \(request.name)".utf8), key)
        let digest = try derived(.requests, Array("digest \(request.digest)".utf8), key)
        return CommittedRequest(name: FileDigest.hex(name), digest: FileDigest.hex(digest))
    }

    /// Returns the code of random bytes that identifies the key.
    private static func code(of salt: [UInt8], _ key: EncryptionKey) throws(StorageError) -> [UInt8] {
        Array(try derived(.codes, salt, key).prefix(codeByteCount))
    }

    /// Derives 32 bytes for a purpose from some bytes.
    private static func derived(_ purpose: Purpose, _ bytes: [UInt8], _ key: EncryptionKey) throws(StorageError) -> [UInt8] {
        let purposeKey = try AuthenticationContext.sha256(of: Array(purpose.rawValue.utf8), by: key.bytes)
        return try AuthenticationContext.sha256(of: bytes, by: purposeKey)
    }
}
