// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The right side of `geoWithin` as it was written or passed. It is validated and evaluated by `GeoRegion`.
package enum GeoShape: Sendable, Equatable {
    /// A box, given by two opposite corners in either order.
    case box(GeoPoint, GeoPoint)
    /// All points at an angle of at most `radius` radians from the centre.
    case circle(center: GeoPoint, radius: Double)
    /// An outer ring and holes; the first and the last point of each ring are the same.
    case polygon([[GeoPoint]])
    /// A single point. It is not a region and therefore never valid here, but an argument can hold one.
    case point(GeoPoint)

    /// The number of points that have to be validated for each `geoWithin` that names the shape.
    var cornerCount: Int {
        guard case .polygon(let rings) = self else { return 4 }
        return rings.reduce(0) { $0 + $1.count }
    }

    /// Returns the corners of a box as a closed ring of four edges, which starts and ends at `corner`.
    static func ring(ofBox corner: GeoPoint, _ opposite: GeoPoint) -> [GeoPoint] {
        [
            corner, GeoPoint(longitude: corner.longitude, latitude: opposite.latitude), opposite,
            GeoPoint(longitude: opposite.longitude, latitude: corner.latitude), corner,
        ]
    }
}

extension GeoShape {
    /// Parses a shape in the notation of queries, such as `geoBox([0, 0], [1, 1])`. A string
    /// argument of `geoWithin` has this form.
    ///
    /// - Parameter text: The shape and nothing else. Arguments are not allowed within.
    /// - Throws: `QueryError.syntax`, with positions in `text`.
    package static func parse(_ text: String) throws(QueryError) -> GeoShape {
        var parser = try Parser(text)
        return try parser.parseWholeShape().shape { index throws(QueryError) in
            throw .syntax(position: 0, detail: "$\(index) is not allowed in the text of a shape", expected: ["a coordinate"])
        }
    }
}
