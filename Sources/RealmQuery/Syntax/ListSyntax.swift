// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

struct ListSyntax: Sendable {
    let quantifier: Quantifier?
    let elements: [ConstantSyntax]
    let range: Range<Int>
}
