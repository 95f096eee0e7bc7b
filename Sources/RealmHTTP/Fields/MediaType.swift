// SPDX-License-Identifier: Apache-2.0

/// A media type or range with its parameters: `application/ejson; mode=relaxed`.
package struct MediaType: Sendable, Equatable {
    /// Lower case.
    package let type: String
    package let subtype: String
    /// Names in lower case; `q` is left out.
    package let parameters: [String: String]

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

    package var essence: String { type + "/" + subtype }

    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
