// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A range of addresses in the form of CIDR: `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct NetworkRange: Sendable, Equatable {
    /// The range as it was stated.
    package let text: String
    /// The bytes of the address.
    private let bytes: [UInt8]
    /// How many bits of the address count.
    private let bitCount: Int

    /// Reads a range; nil for a text of another form.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let bytes = System.addressBytes(String(parts[0])) else { return nil }
        var bitCount = bytes.count * 8
        if parts.count == 2 {
            guard parts[1].utf8.count <= 3, let number = Int(parts[1]), parts[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
            else { return nil }
            // The prefix of an IPv4 address inside of IPv6 counts from the beginning of the latter.
            bitCount = bytes.count == 4 && parts[0].contains(":") ? number - 96 : number
        }
        guard (0...bytes.count * 8).contains(bitCount) else { return nil }
        self.text = text
        self.bytes = bytes
        self.bitCount = bitCount
    }

    /// Returns whether an address lies in the range.
    ///
    /// - Parameter address: The bytes of the address, as `System.addressBytes` returns them.
    package func contains(_ address: [UInt8]) -> Bool {
        guard address.count == bytes.count else { return false }
        let whole = bitCount / 8
        guard address[..<whole] == bytes[..<whole] else { return false }
        guard bitCount % 8 != 0 else { return true }
        return (address[whole] ^ bytes[whole]) >> UInt8(8 - bitCount % 8) == 0
    }
}
