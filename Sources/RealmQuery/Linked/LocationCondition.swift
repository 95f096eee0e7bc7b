// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tests whether objects of a class of locations lie inside a region.
final class LocationCondition: Condition {
    private let locations: LocationReader
    private let region: GeoRegion
    private let cancellation: CancellationCheck

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - locations: Reads the coordinates of a location; used here alone.
    ///   - region: The region, which has been validated.
    ///   - cancellation: The check that can stop the query; a region may have many corners.
    init(_ locations: LocationReader, in region: GeoRegion, _ cancellation: CancellationCheck) {
        self.locations = locations
        self.region = region
        self.cancellation = cancellation
    }

    var cost: Double { 100 }
    var outline: ConditionOutline { ConditionOutline("locations") }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        let points = try locations.attach(leaf)
        return try candidates.filter { row throws(StorageError) in
            try cancellation.step(1 + region.vertexCount / 4)
            guard let place = try points.location(row) else { return false }
            return region.contains(longitude: place.longitude, latitude: place.latitude)
        }
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        try cancellation.step(1 + region.vertexCount / 4)
        return try locations.lies(row, in: region)
    }
}
