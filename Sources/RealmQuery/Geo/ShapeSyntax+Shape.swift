// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension ShapeSyntax {
    /// Returns the shape with the values of its arguments.
    ///
    /// - Parameter coordinate: Returns the number that is passed as argument `$n`, or throws.
    /// - Throws: The errors of `coordinate`.
    func shape(_ coordinate: (Int) throws(QueryError) -> Double) throws(QueryError) -> GeoShape {
        switch self {
        case .box(let corner, let opposite):
            return .box(try ShapeSyntax.point(corner, coordinate), try ShapeSyntax.point(opposite, coordinate))
        case .circle(let center, let radius, let unit):
            return .circle(
                center: try ShapeSyntax.point(center, coordinate),
                radius: unit.angle(of: try ShapeSyntax.number(radius, coordinate)))
        case .polygon(let rings):
            var points: [[GeoPoint]] = []
            for ring in rings {
                var places: [GeoPoint] = []
                for point in ring { places.append(try ShapeSyntax.point(point, coordinate)) }
                points.append(places)
            }
            return .polygon(points)
        }
    }

    /// Returns a point of the shape, with the values of the arguments in it.
    private static func point(
        _ point: Point, _ coordinate: (Int) throws(QueryError) -> Double
    ) throws(QueryError) -> GeoPoint {
        GeoPoint(
            longitude: try number(point.longitude, coordinate), latitude: try number(point.latitude, coordinate),
            altitude: point.altitude)
    }

    /// The coordinate itself, or the value of the argument in its place.
    private static func number(
        _ number: Coordinate, _ coordinate: (Int) throws(QueryError) -> Double
    ) throws(QueryError) -> Double {
        switch number {
        case .number(let value): return value
        case .argument(let index): return try coordinate(index)
        }
    }
}
