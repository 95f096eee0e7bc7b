// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// All addresses that begin with the same bits, such as `10.0.0.0/8` or `2001:db8::/32`.
package struct AddressRange: Sendable, Equatable {
    /// The range as it was stated.
    package let text: String
    private let address: NetworkAddress
    /// The number of bits of an address, of 128, that count.
    private let bitCount: Int

    /// The rule for the text of a range, for errors.
    package static let rule = "expected an address or a range of addresses, such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32"

    /// Reads an address, or one with the number of bits that count after a slash.
    ///
    /// - Returns: nil for another text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = NetworkAddress(parts[0]) else { return nil }
        let width = address.isIPv4 && !parts[0].contains(":") ? 32 : 128
        var count = width
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(parts[1]), number <= width, "\(number)".utf8.elementsEqual(parts[1].utf8)
            else { return nil }
            count = number
        }
        self.text = text
        self.address = address
        bitCount = count + 128 - width
    }

    /// Whether an address is in the range. The range `::/0` has all of IPv6, and nothing of IPv4.
    package func contains(_ other: NetworkAddress) -> Bool {
        guard address.isIPv4 == other.isIPv4 else { return false }
        let highBits = min(bitCount, 64)
        let lowBits = bitCount - highBits
        return (address.high ^ other.high) >> UInt64(64 - highBits) == 0
            && (lowBits == 0 || (address.low ^ other.low) >> UInt64(64 - lowBits) == 0)
    }
}

extension [AddressRange] {
    /// Whether an address is in one of the ranges; without ranges every address is admitted, also a text that is none.
    ///
    /// - Parameter text: The address, possibly with a zone as those of peers have.
    package func admit(_ text: String) -> Bool {
        guard !isEmpty else { return true }
        guard let address = NetworkAddress(text.prefix { $0 != "%" }) else { return false }
        return contains { $0.contains(address) }
    }
}
