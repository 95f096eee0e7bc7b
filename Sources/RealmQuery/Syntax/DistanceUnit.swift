// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The units in which the radius of a circle can be given.
///
/// The raw values are the suffixes of numbers: `5.5km`. A number without a suffix counts radians.
package enum DistanceUnit: String, Sendable, CaseIterable {
    /// Kilometres along the surface.
    case kilometers = "km"
    /// Metres along the surface.
    case meters = "m"
    /// International miles of 1609.344 metres along the surface.
    case miles = "mi"
    /// Degrees of the angle at the centre of the earth.
    case degrees = "deg"
    /// Radians of the angle at the centre of the earth.
    case radians = "rad"

    /// The radius of the earth in metres by which lengths become angles.
    package static let earthRadius = 6_378_100.0

    /// Returns a distance in this unit as an angle in radians.
    ///
    /// - Parameter distance: The number before the unit.
    package func angle(of distance: Double) -> Double {
        switch self {
        case .kilometers: return distance * 1000 / DistanceUnit.earthRadius
        case .meters: return distance / DistanceUnit.earthRadius
        case .miles: return distance * 1609.344 / DistanceUnit.earthRadius
        case .degrees: return distance * (.pi / 180)
        case .radians: return distance
        }
    }

    /// Reads a distance such as `100km`; a number without a unit counts radians.
    ///
    /// - Parameter text: A number without a sign and, directly after it, a unit.
    /// - Returns: The angle in radians; nil when the text is not a distance.
    package static func angle(ofText text: String) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard !digits.isEmpty, let number = Double(String(digits)) else { return nil }
        let suffix = text.dropFirst(digits.count)
        guard let unit = suffix.isEmpty ? DistanceUnit.radians : DistanceUnit(rawValue: String(suffix)) else { return nil }
        return unit.angle(of: number)
    }
}
