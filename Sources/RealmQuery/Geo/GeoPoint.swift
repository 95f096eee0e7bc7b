// SPDX-License-Identifier: Apache-2.0

/// A place on the sphere in degrees.
package struct GeoPoint: Sendable, Equatable {
    package let longitude: Double
    package let latitude: Double
    /// Kept, but without meaning for what lies within a shape.
    package let altitude: Double?

    /// Degrees; the altitude is kept but has no meaning.
    package init(longitude: Double, latitude: Double, altitude: Double? = nil) {
        self.longitude = longitude
        self.latitude = latitude
        self.altitude = altitude
    }
}
