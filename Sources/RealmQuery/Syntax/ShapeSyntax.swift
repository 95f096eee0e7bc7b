// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A geospatial shape as written, in which arguments may still replace coordinates. Nothing about
/// it has been validated.
indirect enum ShapeSyntax: Sendable {
    /// A coordinate or a radius.
    enum Coordinate: Sendable {
        /// The number itself: degrees for a coordinate, radians for a radius.
        case number(Double)
        /// The number of an argument that holds it.
        case argument(Int)
    }

    /// A point on the surface of the earth.
    struct Point: Sendable {
        /// Degrees east, the first number in the brackets.
        let longitude: Coordinate
        /// Degrees north, the second number.
        let latitude: Coordinate
        /// The third number, which is ignored.
        let altitude: Double?
    }

    /// Two opposite corners, in either order.
    case box(Point, Point)
    /// A centre, and an angular radius in radians.
    case circle(Point, radius: Coordinate)
    /// An outer ring, then the rings of its holes.
    case polygon([[Point]])
}
