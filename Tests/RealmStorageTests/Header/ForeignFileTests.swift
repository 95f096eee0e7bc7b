// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import Testing

/// Files of other programs that are opened by mistake.
@Suite struct ForeignFileTests {
    @Test(arguments: [
        (Array("SQLite format 3\0".utf8), "an SQLite database"), (Array("PK\u{3}\u{4}".utf8), "a ZIP archive"),
        ([0x1f, 0x8b, 8, 0], "packed with gzip"), ([0x28, 0xb5, 0x2f, 0xfd], "packed with Zstandard"),
        (Array("%PDF-1.7".utf8), "a PDF document"),
        ([0x7f, 0x45, 0x4c, 0x46], "a program"),
        ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "a PNG picture"), (Array("GIF89a".utf8), "a GIF picture"),
    ])
    func `a file of a known kind is named`(_ beginning: [UInt8], _ kind: String) throws {
        // Sizes of encrypted files and of others: what is certain is said of both.
        for count in [4000, 8192] {
            let bytes = beginning + [UInt8](repeating: 7, count: count - beginning.count)
            let isShort = beginning.starts(with: [0x1f, 0x8b])
            let text = try refusal(bytes)
            #expect(text.hasSuffix("the file is \(kind)") || isShort && count == 8192, "\(count): \(text)")
            // A key does not make it an encrypted file.
            let withKey = try refusal(bytes, try EncryptionKey(bytes: [UInt8](repeating: 7, count: 64)))
            #expect(withKey.hasSuffix("the file is \(kind)") || isShort && count == 8192, "\(count): \(withKey)")
        }
    }

    @Test func `texts and zeros are told from encrypted files`() throws {
        #expect(try refusal(Array(String(repeating: "hello, world\n", count: 1000).utf8)).hasSuffix("the file is a text"))
        #expect(try refusal(Array("{\"a\":1}".utf8) + [UInt8](repeating: 0x20, count: 100)).contains("perhaps JSON"))
        #expect(try refusal([UInt8](repeating: 0, count: 5000)).contains("interrupted copy"))
        #expect(try refusal((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 1) }).contains("the file is encrypted"))
        // An encrypted file may begin without any control character.
        let random = (0..<8192).map { UInt8(truncatingIfNeeded: 0x21 + ($0 &* 101) % 0x5e | ($0 % 3 == 0 ? 0x80 : 0)) }
        #expect(try refusal(random).contains("the file is encrypted"))
    }

    private func refusal(_ bytes: [UInt8], _ key: EncryptionKey? = nil) throws -> String {
        let path = NSTemporaryDirectory() + "foreign-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        do throws(StorageError) {
            _ = try RealmFile(path: path, key: key)
        } catch {
            return error.description
        }
        return ""
    }
}
