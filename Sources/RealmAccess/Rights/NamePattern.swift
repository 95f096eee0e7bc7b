// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Which realms or classes a part of a role is for: one name, a beginning with `*`, all with `*`, and of realms also those
/// that a claim names.
package struct NamePattern: Sendable {
    private enum Form {
        /// Exactly this name.
        case name(String)
        case claim(before: String, ClaimPath, after: String)
        /// All names that begin with a text, which may be empty.
        case beginning(String)
    }

    /// The pattern as it is written.
    package let text: String
    private let form: Form

    /// Whether every name fits.
    var isAll: Bool { text.utf8.elementsEqual("*".utf8) }

    /// Makes a pattern for classes.
    ///
    /// - Parameter text: A name, `*`, or the beginning of names with `*` after it; nil for `*` elsewhere and an empty text.
    package init?(classes text: String) {
        guard let form = NamePattern.form(text), !text.utf8.contains(UInt8(ascii: "$")) else { return nil }
        self.text = text
        self.form = form
    }

    /// The rule for patterns of classes, as a text for messages.
    package static let ruleOfClasses = "expected the name of a class, the beginning of names with '*' after it, or '*'"

    /// Makes a pattern for realms.
    ///
    /// - Parameter text: As for classes, with characters that names of realms may have; or a name with a claim in it.
    package init?(realms text: String) {
        guard let parts = ClaimPath.parts(of: text) else { return nil }
        if let path = parts.path {
            guard NamePattern.isBeginning(parts.before), parts.after.isEmpty || NamePattern.isBeginning("x" + parts.after) else {
                return nil
            }
            form = .claim(before: parts.before, path, after: parts.after)
        } else {
            guard let plain = NamePattern.form(text) else { return nil }
            switch plain {
            case .name(let name): guard RealmName(name) != nil else { return nil }
            case .beginning(let beginning): guard NamePattern.isBeginning(beginning) else { return nil }
            case .claim: return nil
            }
            form = plain
        }
        self.text = text
    }

    /// The rule for patterns of realms, as a text for messages.
    package static let ruleOfRealms =
        "expected the name of a realm, the beginning of names with '*' after it, '*', or a name with one claim in it "
        + "such as user-$claims.sub"

    /// Whether a text may be the beginning of the name of a realm.
    private static func isBeginning(_ text: String) -> Bool { text.isEmpty || RealmName(text) != nil }

    /// The form of a text without claims; nil for one that is no pattern.
    private static func form(_ text: String) -> Form? {
        guard !text.isEmpty, !text.utf8.dropLast().contains(UInt8(ascii: "*")), !text.utf8.contains(0) else { return nil }
        return text.utf8.last == UInt8(ascii: "*")
            ? .beginning(String(decoding: text.utf8.dropLast(), as: UTF8.self)) : .name(text)
    }

    /// The name, when the pattern is for one that it states itself.
    var name: String? { if case .name(let name) = form { name } else { nil } }

    /// The claim in the pattern; nil for none.
    var claim: ClaimPath? { if case .claim(_, let path, _) = form { path } else { nil } }

    /// The rank of the pattern; higher is narrower. Of the patterns of one role that fit a name, the narrowest counts: a name is
    /// narrower than a name with a claim, that is narrower than a beginning, and a long beginning is narrower than a short one.
    var narrowness: Int {
        switch form {
        case .name: .max
        case .claim: .max - 1
        case .beginning(let beginning): beginning.utf8.count
        }
    }

    func fits(class name: String) -> Bool {
        switch form {
        case .name(let own): own == name
        case .beginning(let beginning): name.hasPrefix(beginning)
        case .claim: false
        }
    }

    /// Returns whether the pattern fits the name of a realm for the holder of claims.
    ///
    /// - Parameters:
    ///   - claims: The claims. A text fits, or a list with a text that does; `*` has no meaning in them.
    func fits(realm name: String, _ claims: JSONObject) -> Bool {
        switch form {
        case .name(let own): own == name
        case .beginning(let beginning): name.hasPrefix(beginning)
        case .claim(let before, let path, let after):
            NamePattern.middle(of: name, before, after).map { path.names(in: claims, $0) } ?? false
        }
    }

    /// Returns whether the pattern fits the name of a realm for the holder of any claims.
    func mayFit(realm name: String) -> Bool {
        guard case .claim(let before, _, let after) = form else { return fits(realm: name, JSONObject([])) }
        return NamePattern.middle(of: name, before, after) != nil
    }

    /// Returns the part between a prefix and a suffix of a name; nil when it lacks one of them or the part is empty.
    private static func middle(of name: String, _ before: String, _ after: String) -> [UInt8]? {
        let bytes = Array(name.utf8)
        guard bytes.count > before.utf8.count + after.utf8.count, bytes.starts(with: before.utf8),
            bytes.suffix(after.utf8.count).elementsEqual(after.utf8)
        else { return nil }
        return Array(bytes[before.utf8.count..<(bytes.count - after.utf8.count)])
    }
}
