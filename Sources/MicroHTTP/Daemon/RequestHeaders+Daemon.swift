// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RequestHeaders {
    /// Copies the known header fields of a request from the library, and measures and checks all fields.
    ///
    /// It must be called on the daemon's thread of the connection, while the header section is in the library's memory.
    ///
    /// - Parameters:
    ///   - connection: The connection in the library.
    ///   - layout: The check of the header section, which is shown every field.
    ///   - believesProxy: Whether the peer is a trusted proxy, whose notes about its client are kept.
    /// - Returns: The known fields, and the counts of all.
    static func read(
        from connection: OpaquePointer, _ layout: inout HeadLayout, believesProxy: Bool = false
    ) -> RequestHeaders {
        var headers = RequestHeaders()
        unsafe withUnsafeMutablePointer(to: &headers) { headers in
            unsafe withUnsafeMutablePointer(to: &layout) { layout in
                var reading = unsafe Reading(headers: headers, layout: layout, believesProxy: believesProxy)
                unsafe withUnsafeMutablePointer(to: &reading) { unsafe readFields(of: connection, $0) }
            }
        }
        unsafe layout.checkEnd(realm_rest_head_size(connection))
        return headers
    }

    /// The context of the callback to which the library shows the fields one by one.
    @safe private struct Reading {
        let headers: UnsafeMutablePointer<RequestHeaders>
        let layout: UnsafeMutablePointer<HeadLayout>
        /// Whether the notes of a proxy about its client are kept.
        let believesProxy: Bool

        /// Takes one field in, or only measures it when it is not known.
        func take(_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>?) {
            let nameLength = unsafe strlen(name)
            let valueLength = unsafe value.map { unsafe strlen($0) } ?? 0
            unsafe headers.pointee.count(bytes: nameLength + valueLength + 4)
            let header = unsafe RequestHeaders.known(name, nameLength)
            unsafe layout.pointee.check(name, nameLength, isKnown: header != nil, value, valueLength)
            guard let header else {
                if believesProxy { unsafe headers.pointee.noteClient(name, nameLength, value) }
                return unsafe headers.pointee.noteOrigin(name, nameLength, value)
            }
            unsafe headers.pointee.add(header, value.map { unsafe String(cString: $0) } ?? "")
        }
    }

    /// Lets the library list all fields of a request, in their order.
    private static func readFields(of connection: OpaquePointer, _ reading: UnsafeMutablePointer<Reading>) {
        _ = unsafe MHD_get_connection_values(
            connection, .HEADER_KIND,
            { context, _, name, value in
                if let context = unsafe context, let name = unsafe name {
                    unsafe context.assumingMemoryBound(to: Reading.self).pointee.take(name, value)
                }
                return .YES
            }, unsafe reading)
    }

    /// The known fields, grouped by the length of their names, so that few names are compared for each field.
    private static let headersByLength: [[RequestHeader]] = byLength(RequestHeader.allCases) { $0.name }
    /// The fields of proxies, grouped in the same way.
    private static let forwardingByLength: [[StaticString]] = byLength(ForwardingHeader.names) { $0 }

    /// Groups items by the length of their names; the index in the result is the length.
    private static func byLength<Item>(_ items: [Item], _ name: (Item) -> StaticString) -> [[Item]] {
        let longest = items.map { name($0).utf8CodeUnitCount }.max() ?? 0
        return (0...longest).map { length in items.filter { name($0).utf8CodeUnitCount == length } }
    }

    /// Returns the known field of a name, which may be in any case; nil for all other names.
    private static func known(_ name: UnsafePointer<CChar>, _ length: Int) -> RequestHeader? {
        guard length < headersByLength.count else { return nil }
        return headersByLength[length].first { unsafe begins(name, with: $0.name) }
    }

    /// Whether a text begins with a word, without regard to case. The text has to be at least as long as the word.
    private static func begins(_ text: UnsafePointer<CChar>, with word: StaticString) -> Bool {
        unsafe word.utf8Start.withMemoryRebound(to: CChar.self, capacity: word.utf8CodeUnitCount) {
            unsafe strncasecmp($0, text, word.utf8CodeUnitCount) == 0
        }
    }

    /// Records the kind of sender that an ignored field reveals: a proxy, or a browser.
    private mutating func noteOrigin(_ name: UnsafePointer<CChar>, _ length: Int, _ value: UnsafePointer<CChar>?) {
        if unsafe RequestHeaders.isForwarding(name, length) {
            guard forwardedBy == nil else { return }
            forwardedBy = unsafe String(String(cString: name).prefix(64))
        } else if length == 10, unsafe RequestHeaders.begins(name, with: "user-agent"), let value = unsafe value {
            // Every browser identifies itself so. PowerShell does too, but it displays no pages.
            isFromBrowser = unsafe isFromBrowser || (strncmp(value, "Mozilla/", 8) == 0 && strstr(value, "PowerShell") == nil)
        }
    }

    /// Keeps the statement of a trusted proxy about its client. Several lines of a field are one longer list.
    private mutating func noteClient(_ name: UnsafePointer<CChar>, _ length: Int, _ value: UnsafePointer<CChar>?) {
        let value = unsafe value.map { unsafe String(cString: $0) } ?? ""
        if length == 9, unsafe RequestHeaders.begins(name, with: "forwarded") {
            forwarded = forwarded.map { $0 + "," + value } ?? value
        } else if length == 15, unsafe RequestHeaders.begins(name, with: "x-forwarded-for") {
            forwardedFor = forwardedFor.map { $0 + "," + value } ?? value
        }
    }

    /// Whether a field is one that proxies add.
    private static func isForwarding(_ name: UnsafePointer<CChar>, _ length: Int) -> Bool {
        if length >= ForwardingHeader.prefix.utf8CodeUnitCount, unsafe begins(name, with: ForwardingHeader.prefix) { return true }
        guard length < forwardingByLength.count else { return false }
        return forwardingByLength[length].contains { unsafe begins(name, with: $0) }
    }
}

/// The header fields by which proxies state that they passed a request on.
///
/// A request that has one loses the privileges of a local client. A client that invents such a field gains nothing from it.
private enum ForwardingHeader {
    /// The names in lower case, apart from the family that `prefix` covers.
    static let names: [StaticString] = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-forwarded-for",
        "x-envoy-external-address", "true-client-ip", "cf-connecting-ip", "fastly-client-ip", "fly-client-ip", "cdn-loop",
    ]
    /// The beginning of the names of one family of such fields: `x-forwarded-for`, `x-forwarded-proto` and similar ones.
    static let prefix: StaticString = "x-forwarded"
}
