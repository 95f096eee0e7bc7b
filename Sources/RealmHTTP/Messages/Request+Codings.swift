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
        for part in accepted.split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let coding = pieces.first, coding == "gzip" || coding == "x-gzip" else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return weight > 0
        }
        return false
    }
}
