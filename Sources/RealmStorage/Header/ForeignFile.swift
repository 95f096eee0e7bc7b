// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Recognizes the kind of a file that is no Realm file, by its first bytes.
enum ForeignFile {
    /// Beginnings by which programs know the kinds of files that are mistaken for Realm files.
    private static let beginnings: [(bytes: [UInt8], kind: String)] = [
        (Array("SQLite format 3\0".utf8), "an SQLite database"),
        (Array("PK\u{3}\u{4}".utf8), "a ZIP archive"),
        ([0x1f, 0x8b, 0x08], "packed with gzip"),
        (Array("BZh".utf8), "packed with bzip2"),
        ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], "packed with xz"),
        ([0x28, 0xb5, 0x2f, 0xfd], "packed with Zstandard"),
        (Array("7z".utf8) + [0xbc, 0xaf, 0x27, 0x1c], "a 7z archive"),
        (Array("bplist".utf8), "a property list"),
        (Array("%PDF-".utf8), "a PDF document"),
        ([0x7f] + Array("ELF".utf8), "a program"),
        ([0xcf, 0xfa, 0xed, 0xfe], "a program"),
        ([0x89] + Array("PNG\r\n\u{1a}\n".utf8), "a PNG picture"),
        ([0xff, 0xd8, 0xff], "a JPEG picture"),
        (Array("GIF8".utf8), "a GIF picture"),
        (Array("RIFF".utf8), "a picture, a sound or a film in RIFF form"),
        (Array("Rar!".utf8), "a RAR archive"),
        ([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], "a document of an old office program"),
    ]

    /// Returns what a file is, such as `a ZIP archive`.
    ///
    /// - Parameters:
    ///   - prefix: The first bytes of the file, at least 16.
    ///   - mayBeEncrypted: Whether the file has the size of an encrypted one. Such a file begins with a counter, which may look
    ///     like a short beginning of something else.
    /// - Returns: Words that follow `the file is`; nil for bytes of no known kind, as encrypted files have.
    static func kind(of prefix: ByteView, mayBeEncrypted: Bool) -> String? {
        let bytes = prefix.array
        let known = beginnings.first { bytes.starts(with: $0.bytes) }
        if let known, known.bytes.count >= 4 || !mayBeEncrypted { return known.kind }
        if bytes.allSatisfy({ $0 == 0 }) { return "empty at its beginning, as after an interrupted copy" }
        // One in eight encrypted files begins with bytes of which none is a control character; next to none with letters alone.
        guard bytes.allSatisfy({ isOfText($0) && ($0 < 0x80 || !mayBeEncrypted) }) else { return nil }
        switch bytes.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return "a text, perhaps JSON; 'realm-rest import' makes a Realm file of an export"
        default: return "a text"
        }
    }

    /// Whether a byte may be one of a text.
    private static func isOfText(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }
}
