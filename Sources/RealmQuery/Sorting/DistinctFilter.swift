// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Keeps the first row of each combination of values, by hashing.
///
/// Rows with a null link on the way to a value are left out. Only for properties of one type: among mixed values a float
/// and a decimal can be equal without hashing alike, so those are told apart by sorting.
final class DistinctFilter {
    private let keys: [SortKey]
    private let cancellation: CancellationCheck
    /// Positions of kept rows by hash, probed one after another; -1 is free. A power of two in size.
    private var slots = [Int32](repeating: -1, count: 64)
    /// The values of all kept rows, one after another.
    private var values: [Value] = []
    private var hashes: [Int] = []
    private var scratch: [Value] = []
    private var leafValues: [Value] = []
    private(set) var items: [Int64] = []

    init?(_ keys: [SortKey], _ cancellation: CancellationCheck) {
        guard keys.allSatisfy({ $0.column.type != .mixed && $0.column.collection == nil }) else { return nil }
        self.keys = keys
        self.cancellation = cancellation
    }

    /// Takes the rows of a leaf, which are called by their object keys.
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

    /// Takes one row, which the caller calls `item`.
    func add(_ row: Row, _ item: Int64) throws(StorageError) {
        scratch.removeAll(keepingCapacity: true)
        for key in keys { scratch.append(try key.value(row)) }
        try add(item)
    }

    /// Keeps the row with the values in `scratch` if there is none like it.
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

    private func isEqual(_ kept: Int) throws(StorageError) -> Bool {
        let start = kept * keys.count
        for index in scratch.indices {
            try cancellation.step(for: scratch[index])
            if Value.order(values[start + index], scratch[index]) != 0 { return false }
        }
        return true
    }

    private func grow() {
        slots = [Int32](repeating: -1, count: slots.count * 4)
        for (position, hash) in hashes.enumerated() {
            var slot = hash & (slots.count - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: position)
        }
    }
}
