// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc

extension RequestHeaders {
    /// Copies the known header fields of a connection's request, measures all of them, and shows each to `layout`.
    static func read(from connection: OpaquePointer, _ layout: inout HeadLayout) -> RequestHeaders {
        var headers = RequestHeaders()
        unsafe withUnsafeMutablePointer(to: &headers) { headers in
            unsafe withUnsafeMutablePointer(to: &layout) { layout in
                var reading = unsafe Reading(headers: headers, layout: layout)
                unsafe withUnsafeMutablePointer(to: &reading) { unsafe readFields(of: connection, $0) }
            }
        }
        unsafe layout.checkEnd(realm_rest_head_size(connection))
        return headers
    }

    /// Where the fields go that the library shows one by one.
    @safe private struct Reading {
        let headers: UnsafeMutablePointer<RequestHeaders>
        let layout: UnsafeMutablePointer<HeadLayout>

        /// Takes one field in, or only measures it when it is not known.
        func take(_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>?) {
            let nameLength = unsafe strlen(name)
            let valueLength = unsafe value.map { unsafe strlen($0) } ?? 0
            unsafe headers.pointee.count(bytes: nameLength + valueLength + 4)
            let header = unsafe RequestHeaders.known(name, nameLength)
            unsafe layout.pointee.check(name, nameLength, isKnown: header != nil, value, valueLength)
            guard let header else { return unsafe headers.pointee.noteOrigin(name, nameLength, value) }
            unsafe headers.pointee.add(header, value.map { unsafe String(cString: $0) } ?? "")
        }
    }

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

    /// Names by their length, so that few are compared.
    private static let headersByLength: [[RequestHeader]] = byLength(RequestHeader.allCases) { $0.name }
    private static let forwardingByLength: [[StaticString]] = byLength(ForwardingHeader.names) { $0 }

    private static func byLength<Item>(_ items: [Item], _ name: (Item) -> StaticString) -> [[Item]] {
        let longest = items.map { name($0).utf8CodeUnitCount }.max() ?? 0
        return (0...longest).map { length in items.filter { name($0).utf8CodeUnitCount == length } }
    }

    /// The known field of that name, in any case of letters.
    private static func known(_ name: UnsafePointer<CChar>, _ length: Int) -> RequestHeader? {
        guard length < headersByLength.count else { return nil }
        return headersByLength[length].first { unsafe begins(name, with: $0.name) }
    }

    /// Whether a text that is long enough begins with `word`, in any case of letters.
    private static func begins(_ text: UnsafePointer<CChar>, with word: StaticString) -> Bool {
        unsafe word.utf8Start.withMemoryRebound(to: CChar.self, capacity: word.utf8CodeUnitCount) {
            unsafe strncasecmp($0, text, word.utf8CodeUnitCount) == 0
        }
    }

    /// Remembers what a field that is not kept tells about where the request came from.
    private mutating func noteOrigin(_ name: UnsafePointer<CChar>, _ length: Int, _ value: UnsafePointer<CChar>?) {
        if unsafe RequestHeaders.isForwarding(name, length) {
            guard forwardedBy == nil else { return }
            forwardedBy = unsafe String(String(cString: name).prefix(64))
        } else if length == 10, unsafe RequestHeaders.begins(name, with: "user-agent"), let value = unsafe value {
            // Every browser calls itself so; PowerShell does too, and shows no pages.
            isFromBrowser = unsafe isFromBrowser || (strncmp(value, "Mozilla/", 8) == 0 && strstr(value, "PowerShell") == nil)
        }
    }

    private static func isForwarding(_ name: UnsafePointer<CChar>, _ length: Int) -> Bool {
        if length >= ForwardingHeader.prefix.utf8CodeUnitCount, unsafe begins(name, with: ForwardingHeader.prefix) { return true }
        guard length < forwardingByLength.count else { return false }
        return forwardingByLength[length].contains { unsafe begins(name, with: $0) }
    }
}
