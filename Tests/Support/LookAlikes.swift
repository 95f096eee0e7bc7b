// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage

/// Texts that Swift's `String` takes for one though their bytes differ.
package enum LookAlikes {
    /// Pieces of text with the same canonical form.
    private static let pieces: [(String, String)] = [
        ("K", "\u{212a}"), ("\u{e9}", "e\u{301}"), ("\u{c5}", "\u{212b}"), ("A\u{30a}", "\u{c5}"), ("\u{3a9}", "\u{2126}"),
        ("\u{1e69}", "s\u{323}\u{307}"), ("s\u{307}\u{323}", "s\u{323}\u{307}"), ("\u{ac00}", "\u{1100}\u{1161}"),
        ("\u{f900}", "\u{8c48}"), (";", "\u{37e}"), ("`", "\u{1fef}"), ("\u{2002}", "\u{2000}"), ("\u{301}", "\u{341}"),
    ]

    /// Returns two canonically equal texts with different bytes.
    ///
    /// - Parameters:
    ///   - prefix: What both begin with.
    ///   - random: Where the texts come from.
    package static func pair(_ prefix: String = "", _ random: inout SeededGenerator) -> (String, String) {
        var (left, right) = (prefix, prefix)
        let different = Int.random(in: 0..<3, using: &random)
        for place in 0..<3 {
            let (one, other) = pieces[Int.random(in: 0..<pieces.count, using: &random)]
            let letter = String(UnicodeScalar(UInt8.random(in: 0x61...0x7a, using: &random)))
            left += letter + one
            right += letter + (place == different || Bool.random(using: &random) ? other : one)
        }
        return (left, right)
    }

    /// The standard library's equality of two texts, as collections of `String` have it.
    package static func areCanonicallyEqual(_ left: String, _ right: String) -> Bool { areEqual(left, right) }

    private static func areEqual<Element: Equatable>(_ left: Element, _ right: Element) -> Bool { left == right }
}
