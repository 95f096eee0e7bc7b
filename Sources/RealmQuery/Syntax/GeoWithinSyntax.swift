// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

struct GeoWithinSyntax: Sendable {
    enum Region: Sendable {
        case shape(ShapeSyntax)
        case argument(Int)
    }

    let property: PropertySyntax
    let region: Region
    let regionRange: Range<Int>
}
