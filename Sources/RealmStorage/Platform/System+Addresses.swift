// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Addresses of the network as bytes.
extension System {
    /// Returns the bytes of an IP address: four of IPv4, also where it is written inside of IPv6, or sixteen of IPv6.
    ///
    /// - Parameter text: The address as text, without a port; a zone such as `%eth0` is ignored.
    /// - Returns: The bytes; nil for a text that is no address.
    package static func addressBytes(_ text: String) -> [UInt8]? {
        var four = in_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 { return unsafe withUnsafeBytes(of: four) { unsafe Array($0) } }
        var sixteen = in6_addr()
        guard unsafe inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &sixteen) == 1 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: sixteen) { unsafe Array($0) }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        return isMapped ? Array(bytes[12...]) : bytes
    }
}
