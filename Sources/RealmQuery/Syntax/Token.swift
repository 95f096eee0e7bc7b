// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One token of a query text: its kind and the bytes that it covers.
///
/// The lexer makes tokens one at a time. A token holds no text of its own; `Lexer.text(of:)` returns it.
struct Token: Equatable, Sendable {
    /// The kind: a literal, a name, a keyword or punctuation.
    let kind: TokenKind
    /// The byte offset of the first byte of the token in the UTF-8 text.
    let start: Int
    /// The byte offset after the last byte of the token. It equals `start` for the end of the query.
    let end: Int
}
