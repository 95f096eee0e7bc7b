// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads the addresses that proxies have noted in `Forwarded` (RFC 7239) and `X-Forwarded-For`, the one
/// that was noted last at the end.
package enum ForwardedAddresses {
    /// The number of notes that are read, from the last one backwards. Earlier ones count as one that is no address.
    package static let limit = 64

    /// Returns the addresses in the elements of `X-Forwarded-For`.
    ///
    /// - Parameter value: The value of the field, of several lines joined by commas.
    /// - Returns: The addresses; nil in the place of an element that is not an address.
    package static func plain(_ value: String) -> [NetworkAddress?] {
        last(of: value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)) { element in
            address(trimmed(String(decoding: element, as: UTF8.self)))
        }
    }

    /// Returns the addresses in the parameters `for` of `Forwarded`.
    ///
    /// - Parameter value: The value of the field, of several lines joined by commas.
    /// - Returns: The addresses; nil in the place of an element without one, which may also be an identifier that the proxy made
    ///   up. A value that is not of the form of the field is one such element.
    package static func standard(_ value: String) -> [NetworkAddress?] {
        guard let elements = elements(value) else { return [nil] }
        return last(of: elements) { element in
            var found: NetworkAddress?
            var count = 0
            for (name, value) in element where name.lowercasedASCII == "for" {
                found = address(value)
                count += 1
            }
            // Two of them would be read differently by different programs.
            return count == 1 ? found : nil
        }
    }

    /// Returns the addresses of the last notes, after nil if there are more.
    private static func last<Element>(of notes: [Element], _ address: (Element) -> NetworkAddress?) -> [NetworkAddress?] {
        (notes.count > limit ? [nil] : []) + notes.suffix(limit).map(address)
    }

    /// Reads an address with or without port, an IPv6 address in brackets or without; nil for all else,
    /// such as `unknown` and `_hidden`.
    private static func address(_ text: String) -> NetworkAddress? {
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]"), isPort(text[text.index(after: bracket)...]) else { return nil }
            let inner = text[text.index(after: text.startIndex)..<bracket]
            return inner.contains(":") ? NetworkAddress(inner) : nil
        }
        guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon else { return NetworkAddress(text) }
        return isPort(text[colon...]) ? NetworkAddress(text[..<colon]) : nil
    }

    /// Whether a text is empty, or a colon with a port. RFC 7239 lets a proxy write a name for the port too.
    private static func isPort(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        let port = text.dropFirst()
        return text.first == ":" && (1...32).contains(port.utf8.count)
            && port.utf8.allSatisfy { MediaType.isToken($0) }
    }

    /// Returns a text without spaces and tabs at its ends.
    private static func trimmed(_ text: String) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let bytes = Array(text.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - The form of the field

    /// Returns the parameters of each element; nil when the value has another form.
    private static func elements(_ value: String) -> [[(name: String, value: String)]]? {
        var reader = Reader(bytes: Array(value.utf8))
        var elements: [[(name: String, value: String)]] = [[]]
        while true {
            reader.skipBlanks()
            switch reader.peek {
            case nil: return elements
            case UInt8(ascii: ","):
                reader.position += 1
                elements.append([])
            case UInt8(ascii: ";"): reader.position += 1
            default:
                guard let parameter = reader.parameter() else { return nil }
                elements[elements.count - 1].append(parameter)
                reader.skipBlanks()
                // A parameter ends where another one, another element or nothing begins.
                guard reader.peek == nil || reader.peek == UInt8(ascii: ",") || reader.peek == UInt8(ascii: ";") else {
                    return nil
                }
            }
        }
    }

    /// Reads the bytes of a value from the first to the last.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        /// The next byte; nil at the end.
        var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

        /// Passes over spaces and tabs.
        mutating func skipBlanks() {
            while peek == 0x20 || peek == 0x09 { position += 1 }
        }

        /// Reads a token; empty when there is none.
        mutating func token() -> String {
            let start = position
            while let byte = peek, MediaType.isToken(byte) { position += 1 }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        /// Reads `NAME=VALUE`, of which the value may be in quotation marks. Values without them may have the
        /// characters of addresses as well, because several proxies leave the marks out.
        mutating func parameter() -> (name: String, value: String)? {
            let name = token()
            guard !name.isEmpty, peek == UInt8(ascii: "=") else { return nil }
            position += 1
            if peek == UInt8(ascii: "\"") { return quoted().map { (name, $0) } }
            let start = position
            while let byte = peek, MediaType.isToken(byte) || ForwardedAddresses.isOfAddress(byte) { position += 1 }
            guard position > start else { return nil }
            return (name, String(decoding: bytes[start..<position], as: UTF8.self))
        }

        /// Reads a text in quotation marks, in which a backslash escapes the next character; nil when it does not end.
        private mutating func quoted() -> String? {
            position += 1
            var text: [UInt8] = []
            while var byte = peek {
                position += 1
                if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
                if byte == UInt8(ascii: "\\") {
                    guard let next = peek else { return nil }
                    byte = next
                    position += 1
                }
                text.append(byte)
            }
            return nil
        }
    }

    /// Whether a byte is in addresses, though not in tokens.
    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
    }
}
