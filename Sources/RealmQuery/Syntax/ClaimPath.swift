// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The names that lead to a claim of the principal: `$claims.realm_access.roles` has two.
///
/// A name has letters and digits of ASCII, `_` and `-`, and begins with a letter or `_`, so that equal paths have equal bytes.
package struct ClaimPath: Sendable, Hashable, CustomStringConvertible {
    /// The names of members, the outermost first; there is at least one.
    package let names: [String]

    /// The word that every path begins with.
    static let word = "$claims"

    /// The path as it is written.
    package var description: String { ClaimPath.word + names.map { "." + $0 }.joined() }

    /// Reads `.NAME.NAME…` after the word `$claims`, as far as it goes.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - start: The offset after the word.
    /// - Returns: The path and the offset of its end; nil when no name follows.
    static func read(in bytes: [UInt8], from start: Int) -> (path: ClaimPath, end: Int)? {
        var names: [String] = []
        var end = start
        while end + 1 < bytes.count, bytes[end] == ASCII.dot, startsName(bytes[end + 1]) {
            let length = bytes[(end + 1)...].prefix { isInName($0) }.count
            names.append(String(decoding: bytes[(end + 1)..<(end + 1 + length)], as: UTF8.self))
            end += 1 + length
        }
        return names.isEmpty ? nil : (ClaimPath(names: names), end)
    }

    /// A text with at most one claim in it, such as `user-$claims.sub`.
    package struct Parts: Sendable {
        /// The text before the claim; the whole text when it has none.
        package let before: String
        /// The claim; nil for none.
        package let path: ClaimPath?
        /// The text after the claim.
        package let after: String
    }

    /// Splits a text at the claim that it contains.
    ///
    /// - Returns: The parts; nil when the text has a dollar sign that begins no claim, or a second one.
    package static func parts(of text: String) -> Parts? {
        let bytes = Array(text.utf8)
        guard let dollar = bytes.firstIndex(of: ASCII.dollar) else { return Parts(before: text, path: nil, after: "") }
        guard bytes[dollar...].starts(with: word.utf8), let (path, end) = read(in: bytes, from: dollar + word.utf8.count),
            !bytes[end...].contains(ASCII.dollar)
        else { return nil }
        let (before, after) = (bytes[..<dollar], bytes[end...])
        return Parts(before: String(decoding: before, as: UTF8.self), path: path, after: String(decoding: after, as: UTF8.self))
    }

    /// Whether a name may begin with a byte.
    private static func startsName(_ byte: UInt8) -> Bool { Lexer.isLetter(byte) && byte != ASCII.dollar }

    /// Whether a name may contain a byte.
    private static func isInName(_ byte: UInt8) -> Bool {
        startsName(byte) || Lexer.isDigit(byte) || byte == ASCII.minus
    }
}
