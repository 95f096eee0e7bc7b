// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A key path as an operand, with its quantifier and its suffix operator.
struct PropertySyntax: Sendable {
    /// A suffix that replaces the values of the path: `count` by their length or number, `type` by
    /// the names of their types.
    enum Postfix: Sendable { case count, type }

    /// The quantifier `ANY`, `ALL` or `NONE` before the path, if there is one.
    let quantifier: Quantifier?
    /// The key path, without the quantifier before it and the suffix after it.
    let path: PathSyntax
    /// The suffix operator; nil when the values themselves are compared.
    let postfix: Postfix?
    /// The bytes of the query text that the path covers, with its quantifier and its suffix.
    let range: Range<Int>
}
