// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A place on the sphere in degrees. Its coordinates may be out of range; `GeoRegion` checks them.
package struct GeoPoint: Sendable, Equatable {
    /// Degrees east of the prime meridian, valid within ±180.
    package let longitude: Double
    /// Degrees north of the equator, valid within ±90.
    package let latitude: Double
    /// The altitude as it was given. It has no effect on what lies within a shape.
    package let altitude: Double?

    /// Creates a place from degrees, which are not checked.
    ///
    /// - Parameters:
    ///   - longitude: Degrees east.
    ///   - latitude: Degrees north.
    ///   - altitude: The altitude, which is kept but has no effect.
    package init(longitude: Double, latitude: Double, altitude: Double? = nil) {
        self.longitude = longitude
        self.latitude = latitude
        self.altitude = altitude
    }
}
