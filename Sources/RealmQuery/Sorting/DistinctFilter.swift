// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Keeps the first row of each combination of values, by hashing.
///
/// Rows with a null link on the way to a value are left out. It works only for properties of one type: among mixed values a
/// float and a decimal can be equal without having the same hash, so these are compared by sorting instead.
final class DistinctFilter {
    /// The key paths whose values distinguish the rows.
    private let keys: [SortKey]
    private let cancellation: CancellationCheck
    /// The hash table: for each slot the index of a kept row, or -1 when it is free. Its size is a power of two.
    private var slots = [Int32](repeating: -1, count: 64)
    /// The values by which the kept rows are distinguished, one row after another.
    private var values: [Value] = []
    /// The hash of the values of each kept row.
    private var hashes: [Int] = []
    /// The values of the row that is currently added.
    private var scratch: [Value] = []
    /// The values of all rows of the current leaf: first those of the first key, then those of the next.
    private var leafValues: [Value] = []
    /// The kept rows in the order in which they came, as the caller identifies them.
    private(set) var items: [Int64] = []

    /// Creates a filter without rows, if the values of all keys can be compared by their hashes.
    ///
    /// - Parameters:
    ///   - keys: The keys whose values are combined.
    ///   - cancellation: The check that can stop the query, and that limits the values that are
    ///     kept.
    /// - Returns: Nil when a key has mixed values or a path into a dictionary.
    init?(_ keys: [SortKey], _ cancellation: CancellationCheck) {
        guard keys.allSatisfy({ $0.column.type != .mixed && $0.column.collection == nil }) else { return nil }
        self.keys = keys
        self.cancellation = cancellation
    }

    /// Adds the rows of a leaf, in ascending order; each is identified by its object key.
    ///
    /// - Throws: A storage error, also when the query has to stop or more values would be kept than
    ///   it may hold.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        leafValues.removeAll(keepingCapacity: true)
        for key in keys { try key.append(leaf, rows, to: &leafValues) }
        let count = rows.count
        var index = 0
        try rows.forEach { row throws(StorageError) in
            scratch.removeAll(keepingCapacity: true)
            for key in keys.indices { scratch.append(leafValues[key * count + index]) }
            try add(leaf.key(at: row).rawValue)
            index += 1
        }
    }

    /// Adds one row.
    ///
    /// - Parameters:
    ///   - item: A number by which the caller identifies the row.
    func add(_ row: Row, _ item: Int64) throws(StorageError) {
        scratch.removeAll(keepingCapacity: true)
        for key in keys { scratch.append(try key.value(row)) }
        try add(item)
    }

    /// Keeps the row whose values are in `scratch`, unless a row with equal values was kept before.
    private func add(_ item: Int64) throws(StorageError) {
        var hasher = Hasher()
        for (index, key) in keys.enumerated() {
            if key.hasLinks, scratch[index].isMissing { return }
            try cancellation.step(for: scratch[index])
            scratch[index].hashByOrder(into: &hasher)
        }
        let hash = hasher.finalize()
        var slot = hash & (slots.count - 1)
        while slots[slot] >= 0 {
            let kept = Int(slots[slot])
            if hashes[kept] == hash, try isEqual(kept) { return }
            slot = (slot + 1) & (slots.count - 1)
        }
        try cancellation.require(valueCount: values.count + 1)
        slots[slot] = Int32(truncatingIfNeeded: items.count)
        items.append(item)
        hashes.append(hash)
        values.append(contentsOf: scratch)
        if items.count * 2 > slots.count { grow() }
    }

    /// Whether a kept row has the same values as the row that is currently added.
    private func isEqual(_ kept: Int) throws(StorageError) -> Bool {
        let start = kept * keys.count
        for index in scratch.indices {
            try cancellation.step(for: scratch[index])
            if Value.order(values[start + index], scratch[index]) != 0 { return false }
        }
        return true
    }

    /// Makes the hash table four times as large and inserts all kept rows again.
    private func grow() {
        slots = [Int32](repeating: -1, count: slots.count * 4)
        for (position, hash) in hashes.enumerated() {
            var slot = hash & (slots.count - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: position)
        }
    }
}
