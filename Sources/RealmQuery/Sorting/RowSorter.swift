// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Orders rows by sort keys; ties keep the order in which the rows came.
///
/// With a limit only the best rows are kept, in a heap with the worst one on top, so that memory does not depend on the
/// number of rows that come.
final class RowSorter {
    /// What came last on the page before: only what sorts behind it is taken.
    struct Bound {
        let values: [Value]
        let key: ObjectKey
    }

    private struct Entry {
        var ordinal: SortOrdinal
        /// What the caller calls the row.
        let item: Int64
        /// When the row came.
        let position: Int
        /// Where its values start in `values`.
        let slot: Int
        /// Are rows equal by the first key that share the ordinal?
        let isExact: Bool
    }

    private let keys: [SortKey]
    private let ascending: [Bool]
    private let firstType: ColumnType
    private let limit: Int
    private let bound: Bound?
    private let cancellation: CancellationCheck
    private var entries: [Entry] = []
    /// The values of all entries, one after another.
    private var values: [Value] = []
    private var scratch: [Value] = []
    private var leafValues: [Value] = []
    private var position = 0

    init(_ keys: [SortKey], limit: Int = .max, after bound: Bound? = nil, _ cancellation: CancellationCheck) {
        self.keys = keys
        ascending = keys.map(\.isAscending)
        firstType = keys[0].column.collection == .dictionary ? .mixed : keys[0].column.type
        self.limit = limit
        self.bound = bound
        self.cancellation = cancellation
        scratch.reserveCapacity(keys.count)
    }

    /// Takes the rows of a leaf, which are called by their object keys.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        let rows = try candidates(leaf, rows)
        guard !rows.isEmpty else { return }
        leafValues.removeAll(keepingCapacity: true)
        try keys[0].append(leaf, rows, to: &leafValues)
        var index = 0
        try rows.forEach { row throws(StorageError) in
            let ordinal = ordinal(leafValues[index])
            if isCandidate(ordinal) {
                try add(Row(leaf: leaf, index: row), leaf.key(at: row).rawValue, first: leafValues[index], ordinal)
            }
            position += 1
            index += 1
        }
    }

    /// Takes one row, which the caller calls `item`.
    func add(_ row: Row, _ item: Int64) throws(StorageError) {
        let first = try keys[0].value(row)
        let ordinal = ordinal(first)
        if isCandidate(ordinal) { try add(row, item, first: first, ordinal) }
        position += 1
    }

    /// The rows of a leaf that can still get among the best: once enough are known, mostly none.
    private func candidates(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) -> Mask {
        guard limit > 0, entries.count == limit, keys[0].isPlainColumn else { return rows }
        return try keys[0].rows(of: leaf, among: rows, notBehind: values[entries[0].slot])
    }

    /// Can a row still get among the best, by the first key?
    @inline(__always) private func isCandidate(_ ordinal: SortOrdinal) -> Bool {
        limit > 0 && (entries.count < limit || !(entries[0].ordinal < ordinal))
    }

    private func add(
        _ row: Row, _ item: Int64, first: Value, _ ordinal: SortOrdinal
    ) throws(StorageError) {
        let isFull = entries.count == limit
        scratch.removeAll(keepingCapacity: true)
        scratch.append(first)
        for key in keys.dropFirst() { scratch.append(try key.value(row)) }
        if let bound, !follows(bound, row.key) { return }
        guard isFull else { return try append(ordinal, item, SortOrdinal.isExact(first, firstType)) }
        // The newcomer comes last among equals, so it has to be strictly better than the worst one.
        let worst = entries[0]
        guard ordinal < worst.ordinal || compare(scratch, 0, with: values, worst.slot) < 0 else { return }
        for index in scratch.indices { values[worst.slot + index] = scratch[index] }
        entries[0] = Entry(
            ordinal: ordinal, item: item, position: position, slot: worst.slot,
            isExact: SortOrdinal.isExact(first, firstType))
        siftDown(0)
    }

    private func follows(_ bound: Bound, _ key: ObjectKey) -> Bool {
        let order = compare(scratch, 0, with: bound.values, 0)
        return order > 0 || (order == 0 && key > bound.key)
    }

    private func ordinal(_ value: Value) -> SortOrdinal {
        let ordinal = SortOrdinal(value, firstType)
        return ascending[0] ? ordinal : ordinal.inverted
    }

    private func append(_ ordinal: SortOrdinal, _ item: Int64, _ isExact: Bool) throws(StorageError) {
        try cancellation.require(valueCount: values.count + 1)
        entries.append(
            Entry(ordinal: ordinal, item: item, position: position, slot: values.count, isExact: isExact))
        values.append(contentsOf: scratch)
        if entries.count == limit {
            for index in stride(from: limit / 2 - 1, through: 0, by: -1) { siftDown(index) }
        }
    }

    /// Restores the heap below `start`.
    private func siftDown(_ start: Int) {
        var parent = start
        while true {
            var worst = parent
            let left = 2 * parent + 1
            if left < entries.count, precedes(entries[worst], entries[left]) { worst = left }
            if left + 1 < entries.count, precedes(entries[worst], entries[left + 1]) { worst = left + 1 }
            if worst == parent { return }
            entries.swapAt(parent, worst)
            parent = worst
        }
    }

    @inline(__always) private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.ordinal != right.ordinal ? left.ordinal < right.ordinal : precedesAmongEqualOrdinals(left, right)
    }

    private func precedesAmongEqualOrdinals(_ left: Entry, _ right: Entry) -> Bool {
        let order = compare(values, left.slot, with: values, right.slot, from: left.isExact && right.isExact ? 1 : 0)
        return order != 0 ? order < 0 : left.position < right.position
    }

    private func compare(
        _ left: [Value], _ leftStart: Int, with right: [Value], _ rightStart: Int, from first: Int = 0
    ) -> Int {
        for index in first..<ascending.count {
            guard cancellation.goesOn(comparing: left[leftStart + index]) else { return 0 }
            let order = SortKey.order(left[leftStart + index], right[rightStart + index])
            if order != 0 { return ascending[index] ? order : -order }
        }
        return 0
    }

    /// The rows in order.
    func finish() throws(StorageError) -> [Int64] { try sortedEntries().map { entries[Int($0)].item } }

    /// What is moved about while sorting.
    private struct Place {
        let ordinal: SortOrdinal
        let entry: UInt32
    }

    /// The positions of the entries in order.
    private func sortedEntries() throws(StorageError) -> [UInt32] {
        var places = entries.enumerated().map { Place(ordinal: $1.ordinal, entry: UInt32(truncatingIfNeeded: $0)) }
        places.sort { left, right in
            left.ordinal != right.ordinal
                ? left.ordinal < right.ordinal
                : precedesAmongEqualOrdinals(entries[Int(left.entry)], entries[Int(right.entry)])
        }
        try cancellation.requireGoingOn()
        return places.map(\.entry)
    }

    /// The first row of each combination of values, in the order in which they came; rows with a null link on the way
    /// to a value are left out.
    func finishDistinct() throws(StorageError) -> [Int64] {
        var kept: [Entry] = []
        for entry in try sortedEntries().map({ entries[Int($0)] }) where !hasMissing(entry) {
            if let last = kept.last, compare(values, last.slot, with: values, entry.slot) == 0 { continue }
            kept.append(entry)
        }
        try cancellation.requireGoingOn()
        kept.sort { $0.position < $1.position }
        return kept.map(\.item)
    }

    private func hasMissing(_ entry: Entry) -> Bool {
        keys.indices.contains { keys[$0].hasLinks && values[entry.slot + $0].isMissing }
    }
}
