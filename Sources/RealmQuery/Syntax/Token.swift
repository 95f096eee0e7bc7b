// SPDX-License-Identifier: Apache-2.0

/// One token of a query text: what it is and which bytes it covers.
struct Token: Equatable, Sendable {
    let kind: TokenKind
    /// Byte offsets into the UTF-8 text.
    let start: Int
    let end: Int
}
