// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tests whether locations that a path leads to lie inside a region: `geoWithin`.
///
/// Without any location `ALL` does not hold, unlike in other comparisons.
final class GeoCondition: RowCondition {
    private let chain: LinkChain
    private let locations: LocationReader
    private let region: GeoRegion
    private let quantifier: Quantifier
    private let label: String
    private let cancellation: CancellationCheck

    /// Creates the condition that tests whether locations lie inside a region.
    ///
    /// - Parameters:
    ///   - chain: The path to the locations.
    ///   - locations: Reads the coordinates of a location.
    ///   - region: The region, which has been validated.
    ///   - quantifier: States how many of the locations have to lie inside.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query; a region may have many corners.
    init(
        _ chain: LinkChain, locations: LocationReader, region: GeoRegion, quantifier: Quantifier, label: String,
        _ cancellation: CancellationCheck
    ) {
        self.cancellation = cancellation
        self.chain = chain
        self.locations = locations
        self.region = region
        self.quantifier = quantifier
        self.label = label
    }

    var cost: Double { 300 }

    /// Returns whether the locations of an object lie inside, as the quantifier demands.
    ///
    /// - Complexity: O(locations × corners of the region).
    func matches(_ row: Row) throws(StorageError) -> Bool {
        var lies = false
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try cancellation.step(1 + region.vertexCount / 4)
            lies = try locations.lies(target, in: region)
            return lies == (quantifier == .all)
        }
        return lies != (quantifier == .none)
    }

    var outline: ConditionOutline { ConditionOutline("row by row", label: label) }
}
