// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// The rules by which names of classes and properties become identifiers of one language.
///
/// A Realm file permits any text as a name; programming languages do not.
struct IdentifierRules {
    /// The words of the language that cannot be identifiers as they are.
    let reserved: Set<ByteText>
    /// Returns how a reserved word is written where an identifier is needed, for example in backticks.
    let quote: (String) -> String

    /// Returns the identifier for a stored name.
    ///
    /// Every character that Unicode does not permit in identifiers becomes an underscore. The empty name, and a name that would
    /// become a single underscore, get the number of their Unicode scalars appended. Different names may get the same
    /// identifier; `identifiers(_:)` prevents that among properties.
    ///
    /// - Parameter name: The name as it is stored.
    /// - Returns: The identifier, and whether it differs from the name, so that the model has to
    ///   state the stored name.
    func identifier(_ name: String) -> (text: String, isMapped: Bool) {
        var text = ""
        for (index, scalar) in name.unicodeScalars.enumerated() {
            let isLetter = scalar.properties.isXIDContinue && (index > 0 || scalar.properties.isXIDStart || scalar == "_")
            text += isLetter ? String(scalar) : "_"
        }
        if text.isEmpty || text == "_" { text = "_\(name.unicodeScalars.count)" }
        if reserved.contains(text) { return (quote(text), text != name) }
        return (text, text != name)
    }

    /// Returns the identifiers for the names of properties of one class, all of them different.
    ///
    /// A name that is an identifier is kept. An identifier that another name would get as well has
    /// a number from 2 on appended, in the order of the names.
    ///
    /// - Parameter names: The names as they are stored, which are different.
    /// - Returns: The results of `identifier(_:)` for each name, apart from the numbers.
    func identifiers(_ names: [String]) -> [(text: String, isMapped: Bool)] {
        let simple = names.map { identifier($0) }
        var used = Set<ByteText>(texts: simple.filter { !$0.isMapped }.map { $0.text })
        return simple.map { one -> (text: String, isMapped: Bool) in
            guard one.isMapped else { return one }
            var text = one.text
            var number = 2
            while !used.insert(text).inserted {
                text = "\(one.text)\(number)"
                number += 1
            }
            return (text, true)
        }
    }
}

/// Returns a text as a string literal of Swift, Kotlin or TypeScript: in quotation marks, with a
/// backslash before each special character, and with escapes for line breaks and tabs.
///
/// - Parameters:
///   - special: The characters that get a backslash. Kotlin needs the dollar sign among them,
///     which begins a variable there.
func quoted(_ text: String, escaping special: Set<Unicode.Scalar> = ["\"", "\\"]) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case "\t": literal += "\\t"
        default:
            if special.contains(scalar) { literal += "\\" }
            literal.unicodeScalars.append(scalar)
        }
    }
    return literal + "\""
}
