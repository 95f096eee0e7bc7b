// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The name under which a realm is served: 1 to 64 of `[A-Za-z0-9._-]`, not starting with a dot; case-sensitive.
package struct RealmName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name as it is written in URLs.
    package let text: String

    /// The rule for names, as a text for messages.
    package static let rule = "a name has 1 to 64 letters, digits, '.', '_' and '-', and does not begin with a dot"

    /// Makes a name; nil for a text that breaks the rule.
    package init?(_ text: String) {
        // Clients and servers fold '.' and '..' in paths, and listings hide other names that begin with a dot.
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(RealmName.isAllowed), text.utf8.first != UInt8(ascii: ".")
        else {
            return nil
        }
        self.text = text
    }

    /// Makes a name from the path of a file, without its folder and the extension `.realm`; nil if that breaks the rule.
    package init?(file path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        self.init(name.hasSuffix(".realm") ? String(decoding: name.utf8.dropLast(6), as: UTF8.self) : name)
    }

    /// The name as text.
    package var description: String { text }

    /// Orders names by their text, as lists of realms show them.
    package static func < (left: RealmName, right: RealmName) -> Bool { left.text < right.text }

    /// Returns whether a name may contain the byte.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }
}
