// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Converts socket addresses to text.
enum SocketAddress {
    /// Returns the text and the port of a socket address.
    ///
    /// - Parameter address: A socket address of any family.
    /// - Returns: The address without brackets and the port; nil unless it is IPv4 or IPv6.
    static func nameAndPort(_ address: UnsafePointer<sockaddr>) -> (String, Int)? {
        switch unsafe realm_rest_address_family(address) {
        case AF_INET:
            return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                var source = unsafe pointer.pointee.sin_addr
                return unsafe (text(AF_INET, &source), Int(UInt16(bigEndian: pointer.pointee.sin_port)))
            }
        case AF_INET6:
            return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                var source = unsafe pointer.pointee.sin6_addr
                return unsafe (text(AF_INET6, &source), Int(UInt16(bigEndian: pointer.pointee.sin6_port)))
            }
        default: return nil
        }
    }

    /// Returns the text of a socket address without its port; empty unless it is IPv4 or IPv6.
    static func name(_ address: UnsafePointer<sockaddr>?) -> String {
        unsafe address.flatMap { unsafe nameAndPort($0) }?.0 ?? ""
    }

    /// Returns the usual text of an IPv4 or IPv6 address in binary form.
    private static func text(_ family: Int32, _ source: UnsafeRawPointer) -> String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(family, source, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
