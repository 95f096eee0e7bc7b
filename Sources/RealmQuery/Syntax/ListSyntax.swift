// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A list literal: constants in braces with commas between them, possibly none.
struct ListSyntax: Sendable {
    /// The quantifier `ANY`, `ALL` or `NONE` before the list, if there is one.
    let quantifier: Quantifier?
    /// The elements in the order of the text; they may be of different types.
    let elements: [ConstantSyntax]
    /// The bytes of the text that the list covers, its quantifier included.
    let range: Range<Int>
}
