// SPDX-License-Identifier: Apache-2.0

/// The name a realm is served by: 1 to 128 of `[A-Za-z0-9._-]`, case sensitive.
package struct RealmName: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(RealmName.isAllowed) else { return nil }
        self.text = text
    }

    /// The name of a file without folder and `.realm`.
    package init?(file path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        self.init(name.hasSuffix(".realm") ? String(name.dropLast(6)) : name)
    }

    package var description: String { text }

    package static func < (left: RealmName, right: RealmName) -> Bool { left.text < right.text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }
}
