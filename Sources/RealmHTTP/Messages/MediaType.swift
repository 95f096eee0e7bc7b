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

/// The value of `Accept`: what a client takes, and how gladly.
package struct AcceptHeader: Sendable {
    /// One range with its weight from 0 to 1.
    package struct Entry: Sendable {
        package let range: MediaType
        package let weight: Double
    }

    package let entries: [Entry]

    /// Unreadable members are left out, as if they named something this server does not have.
    package init(_ text: String) {
        entries = text.split(separator: ",").compactMap { part in
            guard let range = MediaType(part) else { return nil }
            let weight = range.parameters["q"].map { Double($0) ?? 0 } ?? 1
            return Entry(range: range, weight: min(max(weight, 0), 1))
        }
    }

    /// The weight of `essence`: that of the most specific range which covers it.
    package func weight(of essence: String) -> Double { best(for: essence)?.weight ?? 0 }

    /// The most specific entry that covers `essence`, with its parameters.
    package func best(for essence: String) -> Entry? {
        let type = essence.prefix { $0 != "/" }
        return entries.first { $0.range.essence == essence }
            ?? entries.first { $0.range.type == type && $0.range.subtype == "*" }
            ?? entries.first { $0.range.essence == "*/*" }
    }

    /// Whether `essence` itself stands there with a weight above 0.
    package func names(_ essence: String) -> Bool { entries.contains { $0.range.essence == essence && $0.weight > 0 } }
}
