// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The address of a set of keys: by `https:` anywhere, by `http:` only on this machine, where no one is in between.
package struct KeyAddress: Sendable, Equatable {
    package let text: String
    /// Whether it is on this machine and not encrypted.
    package let isPlain: Bool

    /// The rule for an address, for messages.
    package static let rule = "expected an address such as https://login.example.com/keys; http: is accepted on loopback only"

    /// The characters of a host or of an address in brackets.
    private static let hostCharacters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
    /// The characters that libraries read in different ways, and that no address needs.
    private static let strangeCharacters = Set("\"<>\\^`{|}#".utf8)
    /// The greatest length of an address.
    private static let byteLimit = 2048

    /// Whether a text is meant as an address, and not as a path.
    package static func isAddress(_ text: String) -> Bool { text.contains("://") }

    /// Reads an address; nil for other texts, such as one with a name and a password.
    package init?(_ text: String) {
        guard text.utf8.count <= KeyAddress.byteLimit, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            !text.utf8.contains(where: KeyAddress.strangeCharacters.contains)
        else { return nil }
        guard let scheme = ["https://", "http://"].first(where: { text.lowercasedASCII.hasPrefix($0) }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let host = KeyAddress.host(of: authority) else { return nil }
        isPlain = scheme == "http://"
        guard !isPlain || KeyAddress.isLoopback(host) else { return nil }
        self.text = text
    }

    /// Returns the host of a host with or without a port; nil when it is none.
    private static func host(of authority: Substring) -> String? {
        var host = authority
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        if authority.hasPrefix("["), end == nil { return nil }
        if let colon = authority[(end ?? authority.startIndex)...].firstIndex(of: ":") {
            host = authority[..<colon]
            let port = authority[authority.index(after: colon)...]
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port), (1...65_535).contains(number)
            else { return nil }
        }
        if let end {
            guard host.last == "]", host.endIndex == authority.index(after: end) else { return nil }
            let inner = host.dropFirst().dropLast()
            return !inner.isEmpty && inner.utf8.allSatisfy { "0123456789abcdefABCDEF:.".utf8.contains($0) } ? String(host) : nil
        }
        return !host.isEmpty && host.utf8.allSatisfy(hostCharacters.contains) ? String(host) : nil
    }

    /// Whether a host is this machine without asking a name server.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "[::1]" || host.lowercasedASCII == "localhost" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        // Leading zeros mean octal numbers to some.
        let isAddress = parts.count == 4 && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
        return isAddress && parts[0] == "127"
    }
}
