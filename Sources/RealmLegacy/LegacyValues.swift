// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of a column that is one tree.
struct LegacyValues: LegacySource {
    /// The leaves that were not reached yet.
    private var leaves: LegacyLeaves
    private let type: LegacyType
    /// Whether values may be null.
    private let isNullable: Bool
    /// The pass that reads.
    private let reading: LegacyReading
    /// The present leaf; nil before the first.
    private var leaf: LegacyLeaf?
    /// The place of the present leaf.
    private var place = Ref.none
    /// The next row of the present leaf.
    private var row = 0

    /// Makes a source in front of the first value; no node is read yet.
    init(_ root: Ref, _ type: LegacyType, isNullable: Bool, _ reading: LegacyReading) {
        leaves = LegacyLeaves(root, reading)
        self.type = type
        self.isNullable = isNullable
        self.reading = reading
    }

    mutating func read(_ limit: Int, into values: inout [Value?]) throws(StorageError) {
        var left = limit
        while left > 0 {
            guard let leaf, row < leaf.count else {
                guard let node = try leaves.next() else { return }
                self.leaf = try LegacyLeaf(node, type, isNullable: isNullable, reading)
                (place, row) = (node.ref, 0)
                continue
            }
            let end = min(leaf.count, row + left)
            for row in row..<end { values.append(try leaf.value(row)) }
            left -= end - row
            row = end
        }
    }

    func renew() throws(StorageError) {
        try leaves.renew()
        guard !place.isNone else { return }
        // The parts of the leaf are where they were.
        _ = try LegacyLeaf(try reading.space.node(at: place), type, isNullable: isNullable, reading.unlimited)
    }

    /// Returns how many values a column has, of which nothing but the leaves' shapes is looked at.
    static func count(_ root: Ref, _ type: LegacyType, isNullable: Bool, _ reading: LegacyReading) throws(StorageError) -> Int {
        var leaves = LegacyLeaves(root, reading)
        var count = 0
        while let node = try leaves.next() {
            count += try LegacyLeaf(node, type, isNullable: isNullable, reading).count
            if reading.relieve() { try leaves.renew() }
        }
        return count
    }

    /// Returns how many values the root of a column states; no other node is read.
    static func statedCount(
        _ root: Ref, _ type: LegacyType, isNullable: Bool, _ reading: LegacyReading
    ) throws(StorageError) -> Int {
        let node = try reading.node(at: root)
        guard node.isInner else { return try LegacyLeaf(node, type, isNullable: isNullable, reading).count }
        try LegacyLeaves.checkInner(node)
        return Int(clamping: try node.number(node.count - 1, "number of values"))
    }
}
