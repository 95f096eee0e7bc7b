// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The quotation marks that word processors put in the place of straight ones. The language reads them as letters.
enum QuotationMarks {
    /// The marks of several languages.
    static let all = "“”„‟‘’‚‛«»"

    /// Whether a character is such a mark.
    static func contains(_ character: Character) -> Bool { all.contains(character) }

    /// Whether a text has such a mark.
    static func isPart(of text: String) -> Bool { text.contains { all.contains($0) } }
}
