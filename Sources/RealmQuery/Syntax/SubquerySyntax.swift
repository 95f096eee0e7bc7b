// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `SUBQUERY(path, $variable, predicate).@count`: the number of linked objects that fulfil a
/// predicate.
struct SubquerySyntax: Sendable {
    /// The key path to the linked objects that the subquery counts.
    let path: PathSyntax
    /// The name by which the predicate refers to a linked object, with its dollar sign.
    let variable: String
    /// The condition that a linked object has to fulfil to be counted.
    let predicate: PredicateSyntax
    /// The bytes of the text that the whole subquery covers, its suffix included.
    let range: Range<Int>
}
