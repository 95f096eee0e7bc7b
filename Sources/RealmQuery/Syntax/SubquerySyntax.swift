// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

struct SubquerySyntax: Sendable {
    let path: PathSyntax
    /// With its dollar sign.
    let variable: String
    let predicate: PredicateSyntax
    let range: Range<Int>
}
