// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

struct PropertySyntax: Sendable {
    enum Postfix: Sendable { case count, type }

    let quantifier: Quantifier?
    let path: PathSyntax
    let postfix: Postfix?
    let range: Range<Int>
}
