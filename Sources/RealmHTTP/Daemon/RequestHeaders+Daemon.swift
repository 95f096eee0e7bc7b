// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc

extension RequestHeaders {
    /// Copies the known header fields of a connection's request and measures all of them.
    static func read(from connection: OpaquePointer, countLimit: Int) -> RequestHeaders {
        var headers = RequestHeaders()
        withUnsafeMutablePointer(to: &headers) { pointer in
            _ = MHD_get_connection_values(connection, .HEADER_KIND, { context, _, name, value in
                guard let context, let name else { return .YES }
                let headers = context.assumingMemoryBound(to: RequestHeaders.self)
                let nameLength = strlen(name)
                headers.pointee.count(bytes: nameLength + (value.map { strlen($0) } ?? 0) + 4)
                guard let header = RequestHeaders.known(name, nameLength) else { return .YES }
                headers.pointee.add(header, value.map { String(cString: $0) } ?? "")
                return .YES
            }, pointer)
        }
        return headers
    }

    /// The known field of that name, in any case of letters.
    private static func known(_ name: UnsafePointer<CChar>, _ length: Int) -> RequestHeader? {
        for header in RequestHeader.allCases {
            let known = header.name
            guard known.utf8CodeUnitCount == length else { continue }
            let matches = known.utf8Start.withMemoryRebound(to: CChar.self, capacity: length) {
                strncasecmp($0, name, length) == 0
            }
            if matches { return header }
        }
        return nil
    }
}
