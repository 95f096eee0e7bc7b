// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Reads the geographic shapes that query arguments may be.
///
/// Only the form of the JSON is checked here. Whether a shape makes sense, for example whether a
/// polygon is closed, is checked when the query is bound.
enum ShapeDecoder {
    /// Returns the shape in a wrapper; nil when its JSON has the wrong form.
    ///
    /// - Parameters:
    ///   - name: The name of the wrapper: `$geoBox`, `$geoCircle`, `$geoPolygon` or `$geoPoint`.
    ///   - value: The content of the wrapper.
    package static func shape(_ name: String, _ value: JSONValue) -> QueryArgument? {
        let shape: GeoShape?
        switch name {
        case "$geoBox": shape = box(value)
        case "$geoCircle": shape = circle(value)
        case "$geoPolygon": shape = polygon(value)
        default: shape = point(value).map(GeoShape.point)
        }
        return shape.map(QueryArgument.shape)
    }

    /// The JSON that a wrapper has to hold, as error messages show it.
    ///
    /// - Parameter name: The name of the wrapper.
    package static func form(_ name: String) -> String {
        switch name {
        case "$geoBox": return "two corners: [[lon,lat],[lon,lat]]"
        case "$geoCircle": return #"{"center":[lon,lat],"radius":…} with radians or a text such as "100km""#
        case "$geoPolygon": return "rings of points: [[[lon,lat],…],…]"
        default: return "[lon,lat] or [lon,lat,altitude]"
        }
    }

    /// Reads two opposite corners: `[[lon,lat],[lon,lat]]`.
    private static func box(_ value: JSONValue) -> GeoShape? {
        guard let corners = value.array, corners.count == 2, let first = point(corners[0]), let second = point(corners[1])
        else { return nil }
        return .box(first, second)
    }

    /// Reads `{"center":[lon,lat],"radius":…}`, with the radius in radians or as a text with a unit.
    private static func circle(_ value: JSONValue) -> GeoShape? {
        guard let object = value.object, object.count == 2, let center = object["center"].flatMap(point),
            let radius = object["radius"].flatMap(radius)
        else { return nil }
        return .circle(center: center, radius: radius)
    }

    /// Reads an array of rings, each an array of points. The first ring is the outline, the others are holes.
    private static func polygon(_ value: JSONValue) -> GeoShape? {
        guard let rings = value.array else { return nil }
        var shape: [[GeoPoint]] = []
        for ring in rings {
            guard let points = ring.array?.map(point), !points.contains(where: { $0 == nil }) else { return nil }
            shape.append(points.compactMap { $0 })
        }
        return .polygon(shape)
    }

    /// Reads `[longitude, latitude]` in degrees, or the same with an altitude as a third number.
    private static func point(_ value: JSONValue) -> GeoPoint? {
        guard let coordinates = value.array?.map(number), (2...3).contains(coordinates.count), let longitude = coordinates[0],
            let latitude = coordinates[1]
        else { return nil }
        guard coordinates.count == 3 else { return GeoPoint(longitude: longitude, latitude: latitude) }
        return coordinates[2].map { GeoPoint(longitude: longitude, latitude: latitude, altitude: $0) }
    }

    /// Returns a radius in radians, from a number of them or a text such as `100km`.
    private static func radius(_ value: JSONValue) -> Double? {
        value.string.flatMap(DistanceUnit.angle(ofText:)) ?? number(value)
    }

    /// Returns a JSON number as a double; nil for anything else, and for numbers that a double cannot hold.
    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): return Double(number)
        case .real(let number): return number
        default: return nil
        }
    }
}
