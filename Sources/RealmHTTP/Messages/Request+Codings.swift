// SPDX-License-Identifier: Apache-2.0

extension Request {
    /// Whether the body came with a content coding.
    var isPacked: Bool { headers[.contentEncoding].map { $0 != "identity" } ?? false }

    /// Whether the client takes answers that are packed with gzip.
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
