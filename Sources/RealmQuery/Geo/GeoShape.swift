// SPDX-License-Identifier: Apache-2.0

/// The right side of `geoWithin` as it is written, not yet checked. `GeoRegion` checks and evaluates it.
package enum GeoShape: Sendable, Equatable {
    /// Two opposite corners, in either order.
    case box(GeoPoint, GeoPoint)
    /// All points at an angle of at most `radius` radians.
    case circle(center: GeoPoint, radius: Double)
    /// An outer ring and holes; the first and the last point of each ring are the same.
    case polygon([[GeoPoint]])
    /// No region, and therefore never valid; arguments can hold one.
    case point(GeoPoint)

    /// How many points a query that names the shape has to check.
    var cornerCount: Int {
        guard case .polygon(let rings) = self else { return 4 }
        return rings.reduce(0) { $0 + $1.count }
    }

    /// The corners of a box as a ring of four edges.
    static func ring(ofBox corner: GeoPoint, _ opposite: GeoPoint) -> [GeoPoint] {
        [
            corner, GeoPoint(longitude: corner.longitude, latitude: opposite.latitude), opposite,
            GeoPoint(longitude: opposite.longitude, latitude: corner.latitude), corner,
        ]
    }
}
