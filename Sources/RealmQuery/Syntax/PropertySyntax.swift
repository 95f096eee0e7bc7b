// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A key path as an operand, with its quantifier and its suffix operator.
struct PropertySyntax: Sendable {
    /// A suffix that replaces the values of the path: `count` by their length or number, `type` by
    /// the names of their types.
    enum Postfix: Sendable { case count, type }

    /// `ANY`, `ALL` or `NONE` before the path.
    let quantifier: Quantifier?
    /// The path without quantifier and suffix.
    let path: PathSyntax
    /// The suffix operator; nil when the values themselves are compared.
    let postfix: Postfix?
    /// The bytes of the text that all of it covers.
    let range: Range<Int>
}
