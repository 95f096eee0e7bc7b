// SPDX-License-Identifier: Apache-2.0

/// The name a realm is served by: 1 to 64 of `[A-Za-z0-9._-]`, not beginning with a dot, case sensitive.
package struct RealmName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name as it is written in paths.
    package let text: String

    /// What a name may be, for messages.
    package static let rule = "a name has 1 to 64 letters, digits, '.', '_' and '-', and does not begin with a dot"

    /// Nil for a text that is no name.
    package init?(_ text: String) {
        // Clients and servers fold '.' and '..' in paths, and listings hide other names that begin with a dot.
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(RealmName.isAllowed), text.utf8.first != UInt8(ascii: ".")
        else {
            return nil
        }
        self.text = text
    }

    /// The name of a file without folder and `.realm`.
    package init?(file path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        self.init(name.hasSuffix(".realm") ? String(name.dropLast(6)) : name)
    }

    /// The text.
    package var description: String { text }

    /// In the order of the texts.
    package static func < (left: RealmName, right: RealmName) -> Bool { left.text < right.text }

    /// Whether a name may have the byte.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }
}
