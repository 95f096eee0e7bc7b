// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The host names that clients may use for this server.
///
/// A hostile web page can make its own domain name resolve to this machine (DNS rebinding). The `Host` field that the user's
/// browser sends then still contains that name, so the request is refused. Only a name that is written exactly like an allowed
/// one passes: without user, trailing dot or zone, and with nothing but a decimal port after it.
package struct HostPolicy: Sendable {
    /// The allowed names and addresses in lower case, without a port; IPv6 addresses are in brackets.
    package private(set) var hosts: Set<ByteText> = ["localhost", "127.0.0.1", "[::1]"]

    /// Allows the names of loopback, the address that the server is bound to, and additional names.
    ///
    /// - Parameters:
    ///   - boundAddress: The address of the listener as text.
    ///   - extra: The names of the option `--allow-host`.
    package init(boundAddress: String, extra: [String] = []) {
        insert(boundAddress)
        for host in extra { insert(host) }
    }

    /// Allows one more name or address.
    ///
    /// - Parameter host: A host name or an address, without a port. Brackets are added to an IPv6
    ///   address.
    package mutating func insert(_ host: String) {
        let isBareIPv6 = host.contains(":") && !host.hasPrefix("[")
        hosts.insert(isBareIPv6 ? "[\(host.lowercasedASCII)]" : host.lowercasedASCII)
    }

    /// Checks the `Host` field of a request, and the host in a target of absolute form if there is one.
    ///
    /// - Parameter request: The request. One of HTTP/1.0 need not have a `Host` field.
    /// - Throws: 421 `host_not_allowed` for another name, and `invalid_parameter` when the field is
    ///   missing.
    package func check(_ request: Request) throws(Problem) {
        if let authority = request.target.authority, !allows(authority) { throw HostPolicy.refusal }
        guard let host = request[.host], !host.isEmpty else {
            guard request.isHTTP10 else { throw .invalidHeader("Host", "a request needs a Host header field") }
            return
        }
        guard allows(host) else { throw HostPolicy.refusal }
    }

    /// Returns the error in a name that was given for `extra`, as a sentence, or nil when a request can have it.
    package static func defect(in host: String) -> String? {
        let colons = host.utf8.count { $0 == UInt8(ascii: ":") }
        let isAddress = colons > 1 && host.utf8.allSatisfy { "0123456789abcdefABCDEF:.[]".utf8.contains($0) }
        let isName =
            !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: return true
                default: return "-._".utf8.contains(byte)
                }
            }
        guard !isAddress, !isName else { return nil }
        return "expected a host name or an address without scheme, port and path, such as app.example"
    }

    private static var refusal: Problem {
        Problem(.hostNotAllowed, "the host name of this request is not in the allowed list, which --allow-host extends")
    }

    /// Whether the host of `HOST` or `HOST:PORT` is allowed. Names are tried as they are first, as
    /// most are in lower case already.
    private func allows(_ authority: String) -> Bool {
        guard let name = HostPolicy.name(in: authority) else { return false }
        return hosts.contains(name) || hosts.contains(name.lowercasedASCII)
    }

    /// Returns the host in `HOST` or `HOST:PORT`, with the brackets of an IPv6 address.
    ///
    /// - Parameter authority: The value of a `Host` field, or the authority of a URL.
    /// - Returns: The host; nil when it is followed by anything but a colon and up to five digits.
    package static func name(in authority: String) -> String? {
        // Every request passes here, and an array is searched faster than a string.
        let bytes = Array(authority.utf8)
        var end = bytes.count
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = bracket + 1
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            end = colon
        }
        guard end < bytes.count else { return authority }
        let port = bytes[(end + 1)...]
        guard bytes[end] == UInt8(ascii: ":"), port.count <= 5, port.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}
