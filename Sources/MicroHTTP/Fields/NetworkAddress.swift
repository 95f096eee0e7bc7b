// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// An IPv4 or IPv6 address, as a number.
///
/// An IPv4 address is the IPv6 address that it is mapped to (`::ffff:a.b.c.d`), so that both forms of it are equal.
package struct NetworkAddress: Sendable, Equatable {
    /// The first eight bytes.
    package let high: UInt64
    /// The last eight bytes.
    package let low: UInt64

    /// Makes an address of its 16 bytes.
    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Whether it is an IPv4 address.
    package var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

    /// Reads an address without brackets, zone and port.
    ///
    /// Only the usual decimal form of IPv4 is taken: four numbers without leading zeros.
    ///
    /// - Returns: nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 45, let bytes = System.addressBytes(String(text)) else { return nil }
        let halves = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: halves[0], low: halves[1])
    }
}

extension NetworkAddress: CustomStringConvertible {
    /// The address as text: IPv4 in decimal form, IPv6 in eight groups without leading zeros.
    package var description: String {
        if isIPv4 { return [24, 16, 8, 0].map { String(low >> UInt64($0) & 0xff) }.joined(separator: ".") }
        let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { half >> UInt64($0) & 0xffff } }
        return groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// The name under which work and connections of clients at this address are counted together: the
    /// address itself for IPv4, the first 64 bits for IPv6, as for the address of a peer.
    package var clientName: String {
        guard !isIPv4 else { return description }
        let digits = String(high, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + "::/64"
    }
}
