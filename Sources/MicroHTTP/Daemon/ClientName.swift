// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The name under which connections and work of one client are counted together. Without
/// credentials, a client is what uses one address.
///
/// One IPv6 subscriber controls all addresses that begin with the same 64 bits, so these count as
/// one client.
enum ClientName {
    /// Returns the name of the client at a socket address.
    ///
    /// - Parameter address: The address of a peer; nil or another family for a Unix socket.
    /// - Returns: An IPv4 address as text, the first 64 bits of an IPv6 address with `::/64` after
    ///   them, or an empty text for every other peer.
    static func of(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address = unsafe address, let name = unsafe SocketAddress.nameAndPort(address)?.0 else { return "" }
        guard unsafe realm_rest_address_family(address) == AF_INET6 else { return name }
        // A socket for both families shows IPv4 addresses in the form ::ffff:a.b.c.d.
        if name.hasPrefix("::ffff:"), name.contains(".") { return String(name.dropFirst(7)) }
        return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
            unsafe withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                unsafe bytes.prefix(8).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() + "::/64"
            }
        }
    }
}
