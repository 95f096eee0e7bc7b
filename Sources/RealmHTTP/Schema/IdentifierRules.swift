// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Names that a language does not take as they are.
struct IdentifierRules {
    /// Words that cannot be identifiers.
    let reserved: Set<String>
    /// How a reserved word is written.
    let quote: (String) -> String

    /// The identifier for `name`, and whether it differs so that the stored name must be told.
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
}
