// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import Testing

/// Secrets that are given in the place of a name of a file, and keys that are files of bytes.
@Suite struct SecretTextTests {
    private static let hex = String(repeating: "1ca69020", count: 16)
    private static let base64 = Data((0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37) }).base64EncodedString()

    @Test(arguments: [
        hex, base64, "/etc/realm-rest/" + hex, "rr_abcdefgh_secretsecret", "folder/rr_abcdefgh_x", "Bearer abc",
        "eyJhbGciOiJIUzI1NiJ9.e30.abc", String(hex.prefix(64)), "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYwJ=",
    ])
    func `what looks like a key is not shown`(_ text: String) {
        let shown = SecretText.shown(text)
        #expect(!shown.contains(text.suffix(20)) && shown.contains("key"))
    }

    @Test(arguments: [
        "store.key", "/run/secrets/store", "keys/2026-01-31-store-of-the-shop-in-the-old-town.key", "k", "",
        "/var/lib/realm-rest/a-folder-with-a-long-name/another-folder/key.hex", "realm-rest-encryption-key-of-production-2",
    ])
    func `the name of a file is shown`(_ text: String) { #expect(SecretText.shown(text) == text) }

    private func key(_ bytes: [UInt8]) throws(StorageError) -> EncryptionKey {
        let path = NSTemporaryDirectory() + "key-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try EncryptionKey(contentsOfFile: path)
    }

    @Test func `a key file has the 64 bytes, hexadecimal digits or base64`() throws {
        let bytes = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        #expect(try key(bytes).bytes == bytes)
        #expect(try key(Array(Self.base64.utf8) + [0x0a]).bytes == bytes)
        #expect(try key(Array(Self.hex.utf8)).bytes.count == 64)
        // Bytes that end with white space are a key all the same.
        let odd = [UInt8](repeating: 0xff, count: 62) + [0x0a, 0x20]
        #expect(try key(odd).bytes == odd)
    }

    @Test func `64 characters are no key`() {
        for bytes in [Array(Self.hex.utf8.prefix(64)), [UInt8](repeating: 0x61, count: 64), [UInt8](repeating: 0xff, count: 63)] {
            #expect(throws: StorageError.self) { try key(bytes) }
        }
    }
}
