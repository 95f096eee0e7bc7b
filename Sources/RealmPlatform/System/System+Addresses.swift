// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Addresses of the network as bytes.
extension System {
    /// Returns the sixteen bytes of an IP address; IPv4 as the IPv6 address that it is mapped to.
    ///
    /// - Parameter text: The address as text, without brackets, zone and port. Of IPv4 only four decimal numbers without leading
    ///   zeros are taken.
    /// - Returns: The bytes; nil for a text that is no address.
    package static func addressBytes(_ text: String) -> [UInt8]? {
        // The system would read up to the first zero.
        guard !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            let bytes = unsafe withUnsafeBytes(of: four) { unsafe Array($0) }
            return [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + bytes
        }
        var sixteen = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        return unsafe withUnsafeBytes(of: sixteen) { unsafe Array($0) }
    }
}
