// SPDX-License-Identifier: Apache-2.0

/// A media type or range with its parameters: `application/ejson; mode=relaxed`.
package struct MediaType: Sendable, Equatable {
    /// Lower case.
    package let type: String
    /// The part after the slash, in lower case.
    package let subtype: String
    /// Names in lower case; `q` is left out.
    package let parameters: [String: String]

    /// Reads `type/subtype` with parameters after semicolons; nil for a text that is not of this form. Values may stand in
    /// quotes.
    package init?(_ text: some StringProtocol) {
        let parts = String(text).split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
        let names = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(MediaType.isToken) }) else { return nil }
        type = names[0].lowercased()
        subtype = names[1].lowercased()
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() where !part.isEmpty {
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let name = part[..<equals].withoutBlanks.lowercased()
            let value = part[part.index(after: equals)...].withoutBlanks
            guard !name.isEmpty else { return nil }
            parameters[name] =
                value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
                ? String(value.dropFirst().dropLast()) : String(value)
        }
        self.parameters = parameters
    }

    /// Type and subtype without the parameters, such as `application/json`.
    package var essence: String { type + "/" + subtype }

    /// Whether a byte may be part of a token, as names of header fields and media types are.
    ///
    /// Source: RFC 9110, section 5.6.2.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
