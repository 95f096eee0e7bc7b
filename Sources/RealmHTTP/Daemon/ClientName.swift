// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc

/// Whose connections and work count together, as long as there are no credentials: those of one address.
///
/// Whoever has one IPv6 address has all that begin with the same 64 bits.
enum ClientName {
    /// The name of the client at an address: an IPv4 address, or the first 64 bits of an IPv6 address, which belong to one
    /// site.
    static func of(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address = unsafe address, let name = unsafe SocketAddress.nameAndPort(address)?.0 else { return "" }
        guard unsafe Int32(address.pointee.sa_family) == AF_INET6 else { return name }
        // ::ffff:a.b.c.d is how a socket for both families tells IPv4.
        if name.hasPrefix("::ffff:"), name.contains(".") { return String(name.dropFirst(7)) }
        return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
            unsafe withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                unsafe bytes.prefix(8).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() + "::/64"
            }
        }
    }
}
