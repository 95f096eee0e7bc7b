// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `SUBQUERY(path, $variable, predicate).@count`: the number of linked objects that fulfil a
/// predicate.
struct SubquerySyntax: Sendable {
    /// The path to the linked objects.
    let path: PathSyntax
    /// The name by which the predicate refers to a linked object, with its dollar sign.
    let variable: String
    /// The condition on a linked object.
    let predicate: PredicateSyntax
    /// The bytes of the text that the whole subquery covers, its suffix included.
    let range: Range<Int>
}
