// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The request target as it was sent, split into path segments before anything is decoded.
///
/// So `%2F` inside of a segment is data and no separator. An empty segment, as a doubled or
/// trailing slash makes it, is kept and matches no route.
package final class RequestTarget: Sendable {
    /// The whole target, as the client sent it.
    package let bytes: [UInt8]
    /// The places of the raw path segments in `bytes`, without the slashes.
    package let segments: [Range<Int>]
    /// The place of the raw query in `bytes`, after the `?`; nil when there is no `?`.
    package let query: Range<Int>?
    /// Host and port of a target in absolute form (`http://host:port/…`), which clients send to
    /// proxies; nil for the usual form.
    package let authority: String?
    /// Whether the target is `*`, as in `OPTIONS *`.
    package let isAsterisk: Bool

    /// Splits a target at its slashes and its first question mark. Nothing is decoded, and every text is accepted.
    ///
    /// - Parameter bytes: The target from the request line.
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

    /// Returns where the path begins: at 0, or after scheme and authority in the absolute form.
    private static func pathStart(_ bytes: [UInt8]) -> Int {
        guard let begin = schemeEnd(bytes) else { return 0 }
        return bytes[begin...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.count
    }

    /// Returns where the authority of the absolute form begins; nil for all other forms.
    private static func schemeEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.first != UInt8(ascii: "/") else { return nil }
        for scheme in ["http://", "https://"] where bytes.starts(with: scheme.utf8) { return scheme.utf8.count }
        return nil
    }

    /// Whether the target is a path, `*`, or an absolute URL of http or https.
    package var hasKnownForm: Bool { bytes.first == UInt8(ascii: "/") || isAsterisk || authority != nil }

    /// Whether the target asks for the state of the server itself, which is answered even over the limit of connections.
    package var isAboutServer: Bool { ["/healthz", "/readyz", "/metrics"].contains { bytes.elementsEqual($0.utf8) } }

    /// Returns the bytes of one path segment, still percent-encoded.
    ///
    /// - Parameter index: The number of the segment from 0, below `segments.count`.
    package func segment(_ index: Int) -> ArraySlice<UInt8> { bytes[segments[index]] }

    /// Returns the bytes of one path segment and of all after it with the slashes between them, still percent-encoded.
    ///
    /// - Parameter index: The number of the first segment from 0, below `segments.count`.
    package func rest(from index: Int) -> ArraySlice<UInt8> {
        bytes[segments[index].lowerBound..<segments[segments.count - 1].upperBound]
    }

    /// Returns whether a path segment is exactly a given word.
    ///
    /// - Parameters:
    ///   - index: The number of the segment from 0, below `segments.count`.
    ///   - word: The word, in the form in which it is sent.
    package func segment(_ index: Int, is word: StaticString) -> Bool {
        let range = segments[index]
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { unsafe $0.elementsEqual(bytes[range]) }
    }

    /// The parameter by which people ask for JSON on several lines, at every path.
    package static let prettyParameter = "pretty"

    /// Whether the client asks for JSON on several lines: with `pretty`, unless its value is `false`.
    package var wantsIndentation: Bool {
        guard let query else { return false }
        var start = query.lowerBound
        while start < query.upperBound {
            let end = bytes[start..<query.upperBound].firstIndex(of: UInt8(ascii: "&")) ?? query.upperBound
            // Every response asks this, and few parameters begin like it.
            if bytes[start] == UInt8(ascii: "p"), RequestTarget.asksForIndentation(bytes[start..<end]) { return true }
            start = end + 1
        }
        return false
    }

    /// Whether a parameter as it was sent asks for JSON on several lines.
    private static func asksForIndentation(_ parameter: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: parameter.prefix(16), as: UTF8.self)
        return text == prettyParameter || text.hasPrefix(prettyParameter + "=") && text != "pretty=false"
    }

    /// The path as it was sent, without the query.
    package var path: String {
        let end = query.map { $0.lowerBound - 1 } ?? bytes.count
        return String(decoding: bytes[RequestTarget.pathStart(bytes)..<end], as: UTF8.self)
    }
}
