// SPDX-License-Identifier: Apache-2.0

import RealmQuery
import RealmTestSupport

/// Shapes as the vectors write them.
enum VectorShapes {
    static func argument(_ tag: String, _ value: ParsedJSON) throws -> QueryArgument {
        switch tag {
        case "$geo" where value == .null: return .null
        case "$geoPoint": return .shape(.point(try point(value)))
        case "$geoBox":
            guard let corners = value.elements, corners.count == 2 else { throw VectorArguments.Unknown(value: value) }
            return .shape(.box(try point(corners[0]), try point(corners[1])))
        case "$geoCircle":
            guard let center = value["center"], let radius = value["radius"] else { throw VectorArguments.Unknown(value: value) }
            return .shape(.circle(center: try point(center), radius: try number(radius)))
        case "$geoPolygon":
            return .shape(.polygon(try (value.elements ?? []).map { ring in try (ring.elements ?? []).map(point) }))
        default: throw VectorArguments.Unknown(value: value)
        }
    }

    private static func point(_ value: ParsedJSON) throws -> GeoPoint {
        guard let numbers = value.elements, numbers.count >= 2 else { throw VectorArguments.Unknown(value: value) }
        return GeoPoint(longitude: try number(numbers[0]), latitude: try number(numbers[1]))
    }

    static func number(_ value: ParsedJSON) throws -> Double {
        guard let number = value.double ?? value["$double"]?.double else { throw VectorArguments.Unknown(value: value) }
        return number
    }
}
