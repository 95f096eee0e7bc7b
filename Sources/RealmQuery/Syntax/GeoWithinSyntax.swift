// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A test whether locations lie within a shape.
struct GeoWithinSyntax: Sendable {
    /// The right side of `geoWithin`.
    enum Region: Sendable {
        /// A shape that is written in the query.
        case shape(ShapeSyntax)
        /// The number of an argument that holds a shape, or the text of one.
        case argument(Int)
    }

    /// The path to the links that lead to locations.
    let property: PropertySyntax
    /// The shape, or the argument that holds it.
    let region: Region
    /// The bytes of the text that the right side covers.
    let regionRange: Range<Int>
}
