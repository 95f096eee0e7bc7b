// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Locations that a path leads to lie inside a region. Without any location `ALL` does not hold, unlike elsewhere.
final class GeoCondition: RowCondition {
    private let chain: LinkChain
    private let locations: LocationReader
    private let region: GeoRegion
    private let quantifier: Quantifier
    private let label: String
    private let interrupt: Interrupt

    init(
        _ chain: LinkChain, _ locations: LocationReader, _ region: GeoRegion, _ quantifier: Quantifier, label: String,
        _ interrupt: Interrupt
    ) {
        self.interrupt = interrupt
        self.chain = chain
        self.locations = locations
        self.region = region
        self.quantifier = quantifier
        self.label = label
    }

    override var cost: Double { 300 }

    override func matches(_ row: Row) throws(StorageError) -> Bool {
        var lies = false
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try interrupt.step(1 + region.vertexCount / 4)
            lies = try locations.lies(target, in: region)
            return lies == (quantifier == .all)
        }
        return lies != (quantifier == .none)
    }

    override func explain(_ depth: Int, into lines: inout [String]) {
        lines.appendPlan(depth, "row by row: \(label)")
    }
}
