// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The known header fields of one request, and counts over all of its fields.
package struct RequestHeaders: Sendable {
    /// The known fields in the order of their first lines.
    private var fields: [(header: RequestHeader, value: String)] = []
    /// One bit for each known field that is present. Most questions are about fields that are not, and end here.
    private var present: UInt32 = 0
    /// The bytes of all fields that were counted: names, values and four bytes for the separators of each.
    package private(set) var byteCount = 0
    /// The number of field lines, known or not.
    package private(set) var fieldCount = 0
    /// The first field that was given more often than it may be: several times with different
    /// values, or, for `Host`, several times at all. Such a request is refused.
    package private(set) var repeated: RequestHeader?
    /// The statements of proxies; nil for most requests, so that there is little to copy.
    private var forwarding: Forwarding?
    /// Whether the client identifies itself as a browser in `User-Agent`.
    package var isFromBrowser = false

    /// The statements of proxies about a request. It never changes.
    private final class Forwarding: Sendable {
        /// See `forwardedBy`.
        let by: String?
        /// See `forwarded`.
        let standard: String?
        /// See `forwardedFor`.
        let plain: String?

        /// Makes a note of the three.
        init(by: String?, standard: String?, plain: String?) {
            self.by = by
            self.standard = standard
            self.plain = plain
        }
    }

    /// The name of the first field by which a proxy states that it passed the request on; nil when there is none.
    package var forwardedBy: String? {
        get { forwarding?.by }
        set { forwarding = Forwarding(by: newValue, standard: forwarded, plain: forwardedFor) }
    }
    /// The value of `Forwarded` with its lines joined; nil unless the peer is a trusted proxy that has sent it.
    package var forwarded: String? {
        get { forwarding?.standard }
        set { forwarding = Forwarding(by: forwardedBy, standard: newValue, plain: forwardedFor) }
    }
    /// The value of `X-Forwarded-For` with its lines joined; nil unless the peer is a trusted proxy that has sent it.
    package var forwardedFor: String? {
        get { forwarding?.plain }
        set { forwarding = Forwarding(by: forwardedBy, standard: forwarded, plain: newValue) }
    }

    /// Makes a header section without fields, to which lines are added as they are read.
    package init() {}

    /// The value of a field, with several lines of a list joined by commas; nil when the request does not have the field.
    package subscript(_ header: RequestHeader) -> String? {
        guard has(header) else { return nil }
        for field in fields where field.header == header { return field.value }
        return nil
    }

    /// Returns whether the request has a field. This costs one comparison, also for fields that are absent.
    package func has(_ header: RequestHeader) -> Bool { present & header.bit != 0 }

    /// Whether a body may follow. A request with neither of these two fields has none.
    package var announcesBody: Bool { has(.contentLength) || has(.transferEncoding) }

    /// Counts a line of a field of any name towards `byteCount` and `fieldCount`.
    ///
    /// - Parameter bytes: The length of the name, the value and the separators.
    package mutating func count(bytes: Int) {
        byteCount += bytes
        fieldCount += 1
    }

    /// Adds a line of a known field.
    ///
    /// Another line of a list continues the list. For any other field the first line is kept, and a second one that differs from
    /// it, or any second `Host`, is noted in `repeated`.
    ///
    /// - Parameters:
    ///   - header: The field.
    ///   - value: The value of this line.
    package mutating func add(_ header: RequestHeader, _ value: String) {
        guard has(header), let index = fields.firstIndex(where: { $0.header == header }) else {
            present |= header.bit
            fields.append((header, value))
            return
        }
        if header.isList {
            fields[index].value += ", " + value
        } else if fields[index].value != value || header == .host {
            repeated = repeated ?? header
        }
    }
}
