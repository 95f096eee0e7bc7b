// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// The media type that data looks like, out of a list of types that browsers show without running anything.
///
/// HTML, SVG and scripts are plain text here: data is untrusted, and a page of this origin could read everything that its user
/// may read.
package enum DataType {
    /// A type with the bytes by which it is known.
    private struct Signature {
        /// The media type.
        let type: String
        /// The usual end of names of such files.
        let suffix: String
        /// Bytes with the offsets at which they stand.
        let marks: [(offset: Int, bytes: [UInt8])]

        /// Makes a signature of texts and their offsets.
        init(_ type: String, _ suffix: String, _ marks: (Int, [UInt8])...) {
            self.type = type
            self.suffix = suffix
            self.marks = marks.map { (offset: $0.0, bytes: $0.1) }
        }
    }

    private static let signatures = [
        Signature("image/png", "png", (0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])),
        Signature("image/jpeg", "jpg", (0, [0xff, 0xd8, 0xff])),
        Signature("image/gif", "gif", (0, Array("GIF87a".utf8))),
        Signature("image/gif", "gif", (0, Array("GIF89a".utf8))),
        Signature("image/webp", "webp", (0, Array("RIFF".utf8)), (8, Array("WEBPVP".utf8))),
        Signature("image/avif", "avif", (4, Array("ftypavif".utf8))),
        Signature("image/avif", "avif", (4, Array("ftypavis".utf8))),
        Signature("image/heic", "heic", (4, Array("ftypheic".utf8))),
        Signature("image/bmp", "bmp", (0, Array("BM".utf8)), (6, [0, 0, 0, 0])),
        Signature("application/pdf", "pdf", (0, Array("%PDF-".utf8))),
        Signature("audio/wav", "wav", (0, Array("RIFF".utf8)), (8, Array("WAVE".utf8))),
        Signature("audio/mpeg", "mp3", (0, Array("ID3".utf8))),
        Signature("audio/ogg", "ogg", (0, Array("OggS".utf8))),
        Signature("video/webm", "webm", (0, [0x1a, 0x45, 0xdf, 0xa3])),
        Signature("video/mp4", "mp4", (4, Array("ftypisom".utf8))),
        Signature("video/mp4", "mp4", (4, Array("ftypmp4".utf8))),
        Signature("audio/mp4", "m4a", (4, Array("ftypM4A".utf8))),
        Signature("application/zip", "zip", (0, [0x50, 0x4b, 0x03, 0x04])),
        Signature("application/gzip", "gz", (0, [0x1f, 0x8b, 0x08])),
    ]

    /// The type of data that looks like nothing known.
    package static let unknown = "application/octet-stream"
    private static let text = "text/plain; charset=utf-8"

    /// All types that data can have, each once, without parameters.
    package static let all: [String] = {
        var types: [String] = []
        for type in signatures.map(\.type) + ["text/plain", unknown] where !types.contains(type) { types.append(type) }
        return types
    }()

    /// The number of bytes of the data that decide whether it is text.
    private static let textByteCount = 64 << 10

    /// Detects the type of data.
    ///
    /// - Returns: The media type, and the usual end of names of such files.
    package static func of(_ data: ByteView) -> (type: String, suffix: String) {
        for signature in signatures where signature.marks.allSatisfy({ has($0, data) }) {
            return (signature.type, signature.suffix)
        }
        return isText(data) ? (text, "txt") : (unknown, "bin")
    }

    /// Whether data has some bytes at their offset.
    private static func has(_ mark: (offset: Int, bytes: [UInt8]), _ data: ByteView) -> Bool {
        guard data.count >= mark.offset + mark.bytes.count else { return false }
        return mark.bytes.indices.allSatisfy { data[mark.offset + $0] == mark.bytes[$0] }
    }

    /// Whether the beginning of the data is UTF-8 without control characters. A character that the
    /// end of the beginning cuts is left out.
    private static func isText(_ data: ByteView) -> Bool {
        guard !data.isEmpty else { return false }
        var end = min(data.count, textByteCount)
        if end < data.count {
            while end > 0, data[end] & 0xc0 == 0x80 { end -= 1 }
        }
        guard let text = data.slice(0, end).validatedString else { return false }
        return text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 || $0 == 0x0a || $0 == 0x0c || $0 == 0x0d }
    }
}
