// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Measures how far locations are from a place. It keeps the leaves that it read last, so it is used by one thread at a time.
final class DistanceReader {
    private let locations: LocationReader
    private let origin: SpherePoint

    /// Creates a reader for the objects of a class, if they can be locations.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - origin: The place from which distances are measured.
    ///   - cancellation: The check that limits the leaves which the readers of the query keep.
    /// - Returns: Nil when the class is not embedded, or has no `type` and `coordinates`.
    init?(_ table: Table, from origin: GeoPoint, _ cancellation: CancellationCheck? = nil) {
        guard let locations = LocationReader(table, cancellation) else { return nil }
        self.locations = locations
        self.origin = origin.spherePoint
    }

    /// Returns the angle between a location and the place in radians; nil when the object is not a point on the sphere.
    func angle(_ row: borrowing Row) throws(StorageError) -> Double? {
        guard let (longitude, latitude) = try locations.location(row) else { return nil }
        let place = GeoPoint(longitude: longitude, latitude: latitude)
        return place.isOnSphere ? origin.angle(to: place.spherePoint) : nil
    }
}
