// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Locations that a path leads to lie inside a region. Without any location `ALL` does not hold, unlike elsewhere.
final class GeoCondition: RowCondition {
    private let chain: LinkChain
    private let locations: LocationReader
    private let region: GeoRegion
    private let quantifier: Quantifier
    private let label: String
    private let cancellation: CancellationCheck

    /// `chain` leads from an object to its locations.
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
