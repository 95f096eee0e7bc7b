// SPDX-License-Identifier: Apache-2.0

/// The request target as it was sent, split into path segments before anything is decoded.
///
/// `%2F` inside a segment is data; an empty segment (a doubled or trailing slash) stays one and matches no route.
package final class RequestTarget: Sendable {
    /// The whole target, as the client sent it.
    package let bytes: [UInt8]
    /// Raw segments after the leading slash.
    package let segments: [Range<Int>]
    /// The raw query after `?`, if there is a `?`.
    package let query: Range<Int>?
    /// Host and port in a target of absolute form, as proxies are asked.
    package let authority: String?
    /// `*`, as `OPTIONS *` has it.
    package let isAsterisk: Bool

    /// Splits a target at its slashes and its question mark. Nothing is decoded, and nothing is refused.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        isAsterisk = bytes.count == 1 && bytes[0] == UInt8(ascii: "*")
        let schemeEnd = RequestTarget.schemeEnd(bytes)
        let start = isAsterisk ? 1 : RequestTarget.pathStart(bytes)
        authority = schemeEnd.map { String(decoding: bytes[$0..<start], as: UTF8.self) }
        var segments: [Range<Int>] = []
        segments.reserveCapacity(8)
        var begin = start
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "?") {
            if bytes[index] == UInt8(ascii: "/") {
                if index > start { segments.append(begin..<index) }
                begin = index + 1
            }
            index += 1
        }
        if index > start { segments.append(min(begin, index)..<index) }
        self.segments = segments
        query = index < bytes.count ? index + 1..<bytes.count : nil
    }

    /// Where the path begins: after scheme and authority when a proxy sends the absolute form.
    private static func pathStart(_ bytes: [UInt8]) -> Int {
        guard let begin = schemeEnd(bytes) else { return 0 }
        return bytes[begin...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.count
    }

    /// Where the authority of an absolute form begins.
    private static func schemeEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.first != UInt8(ascii: "/") else { return nil }
        for scheme in ["http://", "https://"] where bytes.starts(with: scheme.utf8) { return scheme.utf8.count }
        return nil
    }

    /// Whether it is a path, `*`, or an absolute address of http or https.
    package var hasKnownForm: Bool { bytes.first == UInt8(ascii: "/") || isAsterisk || authority != nil }

    /// Whether it asks for the state of the server itself, which is told when nothing else is.
    var isAboutServer: Bool { ["/healthz", "/readyz", "/metrics"].contains { bytes.elementsEqual($0.utf8) } }

    /// The bytes of one segment, still percent-encoded. `index` has to be below the number of segments.
    package func segment(_ index: Int) -> ArraySlice<UInt8> { bytes[segments[index]] }

    /// Whether segment `index` is exactly `word`.
    package func segment(_ index: Int, is word: StaticString) -> Bool {
        let range = segments[index]
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { unsafe $0.elementsEqual(bytes[range]) }
    }

    /// The path as it was sent, without the query.
    package var path: String {
        let end = query.map { $0.lowerBound - 1 } ?? bytes.count
        return String(decoding: bytes[RequestTarget.pathStart(bytes)..<end], as: UTF8.self)
    }
}
