// SPDX-License-Identifier: Apache-2.0

/// The known header fields of one request.
package struct RequestHeaders: Sendable {
    private var fields: [(header: RequestHeader, value: String)] = []
    /// A bit for each field that is there: most that are asked for are not.
    private var present: UInt32 = 0
    /// Names and values with separators, as far as they were counted.
    package private(set) var byteCount = 0
    package private(set) var fieldCount = 0
    /// A field that may stand once was given several times with different values, or the host several times at all.
    package private(set) var repeated: RequestHeader?
    /// The name of the first field by which a proxy tells that it passed the request on.
    package var forwardedBy: String?
    /// Whether the client calls itself a browser.
    package var isFromBrowser = false

    /// No fields, as the head of a request begins.
    package init() {}

    /// The value of a field, with several lines of a list joined by commas; nil when the request does not have it.
    package subscript(_ header: RequestHeader) -> String? {
        guard has(header) else { return nil }
        for field in fields where field.header == header { return field.value }
        return nil
    }

    /// Whether the request has a field. This costs one comparison, also for fields that are not there.
    package func has(_ header: RequestHeader) -> Bool { present & header.bit != 0 }

    /// Whether a body may come; without these there is none.
    var announcesBody: Bool { has(.contentLength) || has(.transferEncoding) }

    /// Counts a field of any name.
    package mutating func count(bytes: Int) {
        byteCount += bytes
        fieldCount += 1
    }

    /// Adds a line of a known field. A second line of a list continues it; of any other field it is noted as `repeated` when
    /// it differs, and the first one stays.
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
