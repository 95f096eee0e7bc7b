// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A way to compress bodies of responses, which clients choose by `Accept-Encoding`.
///
/// Source: RFC 9110, section 12.5.3; RFC 8878 for zstd.
package enum ContentCoding: String, Sendable, CaseIterable {
    /// Zstandard, which is preferred where a client accepts both alike: it is faster and shorter.
    case zstd
    /// The coding that every client knows.
    case gzip

    /// The name in `Content-Encoding`.
    package var name: StaticString { self == .zstd ? "zstd" : "gzip" }

    /// Returns the coding that a client prefers; nil for none.
    ///
    /// A wildcard is not taken as consent, so that clients which cannot decompress get plain text.
    ///
    /// - Parameter accepted: The value of `Accept-Encoding`.
    package static func preferred(by accepted: String) -> ContentCoding? {
        var best: (coding: ContentCoding, weight: Double)?
        // Every request that may be answered in packed form asks for this, so the text is compared byte by byte.
        for part in accepted.utf8.split(separator: UInt8(ascii: ",")) {
            let pieces = part.split(separator: UInt8(ascii: ";"), maxSplits: 1)
            guard let name = pieces.first, let coding = coding(name) else { continue }
            let weight = pieces.count < 2 ? 1 : self.weight(String(pieces[1]) ?? "q=0")
            guard weight > 0 else { continue }
            if let known = best, known.weight > weight || (known.weight == weight && known.coding == .zstd) { continue }
            best = (coding, weight)
        }
        return best?.coding
    }

    /// Returns the coding of a name; `x-gzip` means the same as `gzip`.
    private static func coding(_ text: Substring.UTF8View) -> ContentCoding? {
        let name = text.lazy.filter { $0 != 0x20 && $0 != 0x09 }.map { $0 | 0x20 }
        if name.elementsEqual("gzip".utf8) || name.elementsEqual("x-gzip".utf8) { return .gzip }
        return name.elementsEqual("zstd".utf8) ? .zstd : nil
    }

    /// Returns the weight that the parameters of a coding state; 1 without one.
    private static func weight(_ parameters: String) -> Double {
        let pieces = parameters.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercasedASCII }
        return pieces.first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
    }
}
