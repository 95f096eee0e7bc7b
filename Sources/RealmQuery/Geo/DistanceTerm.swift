// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The term `@distance(path, [longitude, latitude])` of an order: how far the location at the path is from a
/// place, along a great circle.
///
/// The place may also be written as `geoPoint(longitude, latitude)`. A third number, the altitude, has no effect.
package struct DistanceTerm: Sendable, Equatable {
    /// The word that terms begin with, and the name under which distances are shown.
    package static let word = "@distance"
    /// The key path to a link to a location.
    package let path: String
    /// The place from which distances are measured.
    package let origin: GeoPoint

    /// Reads a term.
    ///
    /// - Parameter text: A key path, or a term.
    /// - Returns: Nil for a text that does not begin with `@distance`.
    /// - Throws: `QueryError.invalid` for a malformed term, and for a place that is not on the sphere.
    package init?(_ text: String) throws(QueryError) {
        guard text.hasPrefix(DistanceTerm.word) else { return nil }
        let inner = text.dropFirst(DistanceTerm.word.count)
        guard inner.hasPrefix("("), inner.hasSuffix(")"), let comma = inner.firstIndex(of: ",") else {
            throw DistanceTerm.invalid("expected @distance(path, [longitude, latitude])", text)
        }
        path = DistanceTerm.trimmed(inner[..<comma].dropFirst())
        let place = DistanceTerm.trimmed(inner[comma...].dropFirst().dropLast())
        guard !path.isEmpty, let numbers = DistanceTerm.numbers(place), (2...3).contains(numbers.count) else {
            throw DistanceTerm.invalid("the place must be [longitude, latitude] or geoPoint(longitude, latitude)", text)
        }
        origin = GeoPoint(longitude: numbers[0], latitude: numbers[1], altitude: numbers.count > 2 ? numbers[2] : nil)
        guard origin.isOnSphere else {
            throw DistanceTerm.invalid("a longitude is from -180 to 180, and a latitude from -90 to 90", text)
        }
        if let altitude = origin.altitude, altitude < 0 { throw DistanceTerm.invalid("an altitude is not below 0", text) }
    }

    /// Returns the numbers of a place; nil when it has another form.
    private static func numbers(_ text: String) -> [Double]? {
        let list: Substring
        if text.hasPrefix("["), text.hasSuffix("]") {
            list = text.dropFirst().dropLast()
        } else if text.lowercasedASCII.hasPrefix("geopoint("), text.hasSuffix(")") {
            list = text.dropFirst("geoPoint(".count).dropLast()
        } else {
            return nil
        }
        var numbers: [Double] = []
        for part in list.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = trimmed(part)
            // The names of numbers that are not finite, and hexadecimal ones, are no coordinates.
            guard digits.allSatisfy({ "0123456789+-.eE".contains($0) }), let number = Double(digits), number.isFinite else {
                return nil
            }
            numbers.append(number)
        }
        return numbers
    }

    /// Returns a text without the blanks around it.
    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }

    private static func invalid(_ detail: String, _ text: String) -> QueryError {
        .invalid(.geospatial, detail: detail, culprit: text, position: nil)
    }
}

extension GeoPoint {
    /// Whether the coordinates are those of a place on the sphere.
    var isOnSphere: Bool { (-180...180).contains(longitude) && (-90...90).contains(latitude) }

    /// The place as a point on the unit sphere.
    var spherePoint: SpherePoint {
        SpherePoint(latitude: latitude * (.pi / 180), longitude: longitude * (.pi / 180))
    }
}
