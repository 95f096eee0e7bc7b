// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// A media type or media range with its parameters, such as `application/ejson; mode=relaxed`.
///
/// Source: RFC 9110, section 8.3.1.
package struct MediaType: Sendable, Equatable {
    /// The part before the slash, in lower case.
    package let type: String
    /// The part after the slash, in lower case.
    package let subtype: String
    /// The parameters by their names, which are in lower case. In `Accept` the weight `q` is among them.
    package let parameters: [ByteText: String]

    /// Parses `type/subtype` with optional parameters after semicolons. The value of a parameter
    /// may be in double quotes, which are removed; escapes inside of them are not interpreted.
    ///
    /// - Returns: nil for a text that does not have this form.
    package init?(_ text: some StringProtocol) {
        let parts = String(text).split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
        let names = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(MediaType.isToken) }) else { return nil }
        type = names[0].lowercasedASCII
        subtype = names[1].lowercasedASCII
        var parameters: [ByteText: String] = [:]
        for part in parts.dropFirst() where !part.isEmpty {
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let name = part[..<equals].withoutBlanks.lowercasedASCII
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

    /// Returns whether a byte may occur in a token, the form that names of header fields and media types have.
    ///
    /// Source: RFC 9110, section 5.6.2.
    package static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension Substring {
    /// This text without the spaces and tabs at its ends, which the parts of header fields may be surrounded by.
    ///
    /// Source: RFC 9110, section 5.6.3.
    package var withoutBlanks: Substring {
        var bytes = utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Substring(bytes)
    }
}
