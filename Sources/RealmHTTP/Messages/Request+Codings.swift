// SPDX-License-Identifier: Apache-2.0

extension Request {
    /// Whether the body was sent with a content coding other than `identity`.
    var isPacked: Bool { headers[.contentEncoding].map { $0 != "identity" } ?? false }

    /// Whether the client accepts responses that are compressed with gzip: `Accept-Encoding` lists
    /// it with a weight above 0.
    ///
    /// A wildcard is not taken as consent, so that clients which cannot decompress get plain text.
    var takesGzip: Bool {
        guard let accepted = headers[.acceptEncoding] else { return false }
        // Every request that may be answered in packed form asks for this, so the text is compared byte by byte.
        for part in accepted.utf8.split(separator: UInt8(ascii: ",")) {
            let pieces = part.split(separator: UInt8(ascii: ";"), maxSplits: 1)
            guard let name = pieces.first, Request.isGzip(name) else { continue }
            return pieces.count < 2 || Request.hasWeight(String(pieces[1]) ?? "q=0")
        }
        return false
    }

    /// Returns whether a coding is `gzip`, or `x-gzip`, which means the same.
    private static func isGzip(_ coding: Substring.UTF8View) -> Bool {
        let name = coding.lazy.filter { $0 != 0x20 && $0 != 0x09 }.map { $0 | 0x20 }
        return name.elementsEqual("gzip".utf8) || name.elementsEqual("x-gzip".utf8)
    }

    /// Returns whether the parameters of a coding leave it a weight above 0.
    private static func hasWeight(_ parameters: String) -> Bool {
        let pieces = parameters.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        return pieces.first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1 > 0
    }
}
