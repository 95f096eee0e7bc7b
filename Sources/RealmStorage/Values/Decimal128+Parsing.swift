// SPDX-License-Identifier: Apache-2.0

/// Reading decimals from text, as JSON numbers, wrapped values and queries have them.
extension Decimal128 {
    /// Reads a whole text: `[+-] digits [. digits] [e [+-] digits]` with at least one digit before the exponent, or
    /// `inf`, `infinity`, `nan` with an optional sign, in any letter case.
    ///
    /// The exponent of the text is kept (`1.00` differs from `1`). Returns nil for any other text.
    package static func parse(_ text: ByteView) -> ParsedDecimal? {
        var reader = DecimalReader(text)
        return reader.read()
    }

    /// The same for text that is not in a file.
    package static func parse(_ text: String) -> ParsedDecimal? {
        let storage = ByteStorage(text)
        return withExtendedLifetime(storage) { parse(storage.view) }
    }

    /// The number that `text` denotes, rounded where it has to be, or nil when it denotes none.
    package init?(_ text: String) {
        guard let parsed = Decimal128.parse(text) else { return nil }
        self = parsed.value
    }
}
