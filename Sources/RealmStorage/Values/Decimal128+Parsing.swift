// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Reading decimals from text: JSON numbers, wrapped values and constants of queries.
extension Decimal128 {
    /// Reads a whole text: `[+-] digits [. digits] [e [+-] digits]` with at least one digit before
    /// the exponent, or `inf`, `infinity`, `nan` with an optional sign, in any letter case.
    ///
    /// The exponent of the text is kept (`1.00` differs from `1`).
    ///
    /// - Returns: The number, with a note whether it was rounded; nil for any other text.
    package static func parse(_ text: ByteView) -> DecimalReader.ParsedDecimal? {
        var reader = DecimalReader(text)
        return reader.read()
    }

    /// Reads a Swift string, as the function for byte views does.
    package static func parse(_ text: String) -> DecimalReader.ParsedDecimal? {
        let storage = ByteStorage(text)
        return withExtendedLifetime(storage) { parse(storage.view) }
    }

    /// Makes the number that `text` denotes, rounded to 34 digits if needed; nil when it denotes none.
    package init?(_ text: String) {
        guard let parsed = Decimal128.parse(text) else { return nil }
        self = parsed.value
    }
}
