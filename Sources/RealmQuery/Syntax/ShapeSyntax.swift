// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A geospatial shape as written, in which arguments may still replace coordinates. Nothing about it has been validated.
indirect enum ShapeSyntax: Sendable {
    /// A number in a shape: a coordinate or a radius, written out or passed as an argument.
    enum Coordinate: Sendable {
        /// The number itself: degrees for a coordinate; the unit of a radius follows it.
        case number(Double)
        /// The number of the argument `$n` that holds the value.
        case argument(Int)
    }

    /// A point of a shape: a place on the surface of the earth.
    struct Point: Sendable {
        /// The longitude in degrees east, the first number in the brackets.
        let longitude: Coordinate
        /// The latitude in degrees north, the second number in the brackets.
        let latitude: Coordinate
        /// The altitude, the optional third number in the brackets. It has no effect.
        let altitude: Double?
    }

    /// `geoBox`: the polygon with two opposite corners, given in either order.
    case box(Point, Point)
    /// `geoCircle`: the points within a radius, in the given unit, of a centre.
    case circle(Point, radius: Coordinate, DistanceUnit)
    /// `geoPolygon`: an outer ring, followed by the rings of its holes.
    case polygon([[Point]])
}
