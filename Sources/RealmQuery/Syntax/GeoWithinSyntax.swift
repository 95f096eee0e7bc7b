// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A comparison with `geoWithin`: a test whether locations lie within a shape.
struct GeoWithinSyntax: Sendable {
    /// The right side of `geoWithin`: a shape, or the argument that holds one.
    enum Region: Sendable {
        /// A shape that is written in the text of the query.
        case shape(ShapeSyntax)
        /// The number of an argument that holds a shape, or the text of one.
        case argument(Int)
    }

    /// The left side of `geoWithin`: the path to the links that lead to locations.
    let property: PropertySyntax
    /// The right side of `geoWithin`: the shape, or the argument that holds it.
    let region: Region
    /// The bytes of the query text that the right side of `geoWithin` covers.
    let regionRange: Range<Int>
}
