// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address, as a number.
///
/// An IPv4 address is the IPv6 address that it is mapped to (`::ffff:a.b.c.d`), so that both forms of it
/// are equal.
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
        guard text.utf8.count <= 45 else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let groups = NetworkAddress.groups(text) else { return nil }
            let halves = [groups[..<4], groups[4...]].map { $0.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
            self.init(high: halves[0], low: halves[1])
        } else {
            guard let number = NetworkAddress.dotted(text) else { return nil }
            self.init(high: 0, low: 0xffff << 32 | UInt64(number))
        }
    }

    /// Reads four decimal numbers with dots between them; nil for another text.
    private static func dotted(_ text: some StringProtocol) -> UInt32? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }),
                part.count == 1 || part.first != 0x30
            else { return nil }
            let value = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 0x30) }
            guard value <= 255 else { return nil }
            number = number << 8 | value
        }
        return number
    }

    /// Reads the eight groups of an IPv6 address; nil for another text. Two colons stand for groups of zeros, once.
    private static func groups(_ text: some StringProtocol) -> [UInt16]? {
        let bytes = Array(text.utf8)
        let colon = UInt8(ascii: ":")
        let gaps = bytes.indices.dropLast().filter { bytes[$0] == colon && bytes[$0 + 1] == colon }
        guard let gap = gaps.first else {
            guard let groups = list(bytes[...]), groups.count == 8 else { return nil }
            return groups
        }
        guard gaps.count == 1, let start = list(bytes[..<gap]), let end = list(bytes[(gap + 2)...]), start.count + end.count < 8
        else { return nil }
        return start + [UInt16](repeating: 0, count: 8 - start.count - end.count) + end
    }

    /// Reads groups with colons between them, of which the last may be an IPv4 address; nil for another text.
    private static func list(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        guard !bytes.isEmpty else { return [] }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            let text = String(decoding: part, as: UTF8.self)
            if part.contains(UInt8(ascii: ".")) {
                guard index == parts.count - 1, let number = dotted(text) else { return nil }
                groups += [UInt16(number >> 16), UInt16(truncatingIfNeeded: number)]
            } else {
                guard (1...4).contains(part.count), part.allSatisfy({ isHexDigit($0) }), let group = UInt16(text, radix: 16)
                else {
                    return nil
                }
                groups.append(group)
            }
        }
        return groups
    }

    /// Whether a byte is a hexadecimal digit.
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
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
