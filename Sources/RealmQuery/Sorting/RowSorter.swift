// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Sorts rows by any sort keys; rows with equal keys keep the order in which they came.
///
/// With a limit, only the best rows are kept, in a heap with the worst one on top, so that memory does not depend on the number
/// of rows that come. A sorter is used once: add the rows, then call `finish` or `finishDistinct`.
final class RowSorter {
    /// The last row of the page before. Only rows after it, in the order of the keys and then of the object keys, are kept.
    struct Bound {
        /// The values by which the last row of the page before was sorted.
        let values: [Value]
        /// The object key of the last row of the page before.
        let key: ObjectKey
    }

    /// A row that is kept for the result.
    private struct Entry {
        /// The ordinal of the row's first key, by which most rows are compared.
        var ordinal: SortOrdinal
        /// The number by which the caller identifies the row, for example its object key.
        let item: Int64
        /// The number of rows that came before it, which decides between equal rows.
        let position: Int
        /// The position of the row's values in the array of all values.
        let slot: Int
        /// Whether rows with the same ordinal are equal by the first key, so that it need not be compared again.
        let isExact: Bool
    }

    /// The keys to sort by; the first one decides, the others decide between equal values.
    private let keys: [SortKey]
    /// For each sort key, whether smaller values come first.
    private let ascending: [Bool]
    /// The type of the values of the first key, from which their ordinals are made.
    private let firstType: ColumnType
    /// The number of rows that the result needs; `Int.max` keeps all of them.
    private let limit: Int
    /// The row after which the result begins; nil for a result from the start.
    private let bound: Bound?
    private let cancellation: CancellationCheck
    /// The rows that are kept: in the order in which they came, and once there are as many as the
    /// limit, as a heap with the worst on top.
    private var entries: [Entry] = []
    /// The values of the sort keys of all kept rows, one row after another.
    private var values: [Value] = []
    /// The values of the sort keys of the row that is currently added.
    private var scratch: [Value] = []
    /// The values of the first sort key for the rows of the current leaf.
    private var leafValues: [Value] = []
    /// The number of rows that were offered to the sorter so far.
    private var position = 0

    /// Creates a sorter without rows.
    ///
    /// - Parameters:
    ///   - keys: The sort keys; at least one.
    ///   - limit: The number of rows that are needed.
    ///   - bound: The row after which the result begins.
    ///   - cancellation: The check that can stop the query, and that limits the values that are
    ///     kept.
    init(_ keys: [SortKey], limit: Int = .max, after bound: Bound? = nil, _ cancellation: CancellationCheck) {
        self.keys = keys
        ascending = keys.map(\.isAscending)
        firstType = keys[0].valueType
        self.limit = limit
        self.bound = bound
        self.cancellation = cancellation
        scratch.reserveCapacity(keys.count)
    }

    /// Adds the rows of a leaf, in ascending order; each is identified by its object key.
    ///
    /// - Throws: A storage error, also when the query has to stop or more values would be kept than
    ///   it may hold.
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

    /// Adds one row.
    ///
    /// - Parameters:
    ///   - item: A number by which the caller identifies the row.
    func add(_ row: Row, _ item: Int64) throws(StorageError) {
        let first = try keys[0].value(row)
        let ordinal = ordinal(first)
        if isCandidate(ordinal) { try add(row, item, first: first, ordinal) }
        position += 1
    }

    /// The rows of a leaf that can still get among the best. Once the limit is reached, there are mostly none.
    private func candidates(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) -> Mask {
        guard limit > 0, entries.count == limit, keys[0].isPlainColumn else { return rows }
        return try keys[0].rows(of: leaf, among: rows, notBehind: values[entries[0].slot])
    }

    /// Whether a row can still get among the best, judging by the ordinal of its first key.
    @inline(__always) private func isCandidate(_ ordinal: SortOrdinal) -> Bool {
        limit > 0 && (entries.count < limit || !(entries[0].ordinal < ordinal))
    }

    /// Reads the remaining values of a row, and keeps it if it belongs to the best.
    private func add(
        _ row: Row, _ item: Int64, first: Value, _ ordinal: SortOrdinal
    ) throws(StorageError) {
        let isFull = entries.count == limit
        scratch.removeAll(keepingCapacity: true)
        scratch.append(first)
        for key in keys.dropFirst() { scratch.append(try key.value(row)) }
        if let bound, !follows(bound, row.key) { return }
        guard isFull else { return try append(ordinal, item, SortOrdinal.isExact(first, firstType)) }
        // A new row comes last among equal ones, so it has to be strictly better than the worst row.
        let worst = entries[0]
        guard ordinal < worst.ordinal || compare(scratch, 0, with: values, worst.slot) < 0 else { return }
        for index in scratch.indices { values[worst.slot + index] = scratch[index] }
        entries[0] = Entry(
            ordinal: ordinal, item: item, position: position, slot: worst.slot,
            isExact: SortOrdinal.isExact(first, firstType))
        siftDown(0)
    }

    /// Whether the row that is currently added comes after the last row of the page before.
    private func follows(_ bound: Bound, _ key: ObjectKey) -> Bool {
        let order = compare(scratch, 0, with: bound.values, 0)
        return order > 0 || (order == 0 && key > bound.key)
    }

    /// The ordinal of a value of the first key, in the direction of that key.
    private func ordinal(_ value: Value) -> SortOrdinal {
        let ordinal = SortOrdinal(value, firstType)
        return ascending[0] ? ordinal : ordinal.inverted
    }

    /// Keeps a row while the limit is not reached. When it is, the entries become a heap.
    private func append(_ ordinal: SortOrdinal, _ item: Int64, _ isExact: Bool) throws(StorageError) {
        try cancellation.require(valueCount: values.count + 1)
        entries.append(
            Entry(ordinal: ordinal, item: item, position: position, slot: values.count, isExact: isExact))
        values.append(contentsOf: scratch)
        if entries.count == limit {
            for index in stride(from: limit / 2 - 1, through: 0, by: -1) { siftDown(index) }
        }
    }

    /// Restores the order of the heap below the entry at `start`.
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

    /// Whether the left entry comes before the right one in the result.
    @inline(__always) private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.ordinal != right.ordinal ? left.ordinal < right.ordinal : precedesAmongEqualOrdinals(left, right)
    }

    /// Whether the left entry comes before the right one, when their ordinals are equal.
    private func precedesAmongEqualOrdinals(_ left: Entry, _ right: Entry) -> Bool {
        let order = compare(values, left.slot, with: values, right.slot, from: left.isExact && right.isExact ? 1 : 0)
        return order != 0 ? order < 0 : left.position < right.position
    }

    /// Compares two rows by their values from key `first` on. Negative means that the left one comes first.
    ///
    /// When the query has to stop, the result is 0; the callers check for that afterwards.
    private func compare(
        _ left: [Value], _ leftStart: Int, with right: [Value], _ rightStart: Int, from first: Int = 0
    ) -> Int {
        for index in first..<ascending.count {
            guard cancellation.continues(comparing: left[leftStart + index]) else { return 0 }
            let order = SortKey.order(left[leftStart + index], right[rightStart + index])
            if order != 0 { return ascending[index] ? order : -order }
        }
        return 0
    }

    /// Returns the rows in order, as the caller identifies them.
    ///
    /// - Throws: A storage error when the query has to stop.
    /// - Complexity: O(n log n) for n kept rows.
    func finish() throws(StorageError) -> [Int64] { try sortedEntries().map { entries[Int($0)].item } }

    /// An entry's ordinal and index: what is moved while the entries are sorted.
    private struct Place {
        let ordinal: SortOrdinal
        let entry: UInt32
    }

    /// Sorts the kept rows, and returns their indexes in the order of the result.
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

    /// Returns the first row of each combination of values, in the order in which the rows came.
    ///
    /// Rows with a null link on the way to a value are left out. The sorter must have been created without a limit.
    func finishDistinct() throws(StorageError) -> [Int64] {
        let rows = entries.filter { !hasMissing($0) }.sorted { $0.position < $1.position }
        var combinations = [Int32](repeating: 0, count: rows.count)
        for key in keys.indices {
            let numbers = EqualValues.numbers(rows.count, while: cancellation.continues(comparing:)) {
                values[rows[$0].slot + key]
            }
            try cancellation.requireGoingOn()
            var pairs: [Int64: Int32] = [:]
            for row in rows.indices {
                let pair = Int64(combinations[row]) << 32 | Int64(numbers[row])
                let known = pairs[pair] ?? Int32(truncatingIfNeeded: pairs.count)
                pairs[pair] = known
                combinations[row] = known
            }
        }
        var known = Set<Int32>()
        return rows.indices.filter { known.insert(combinations[$0]).inserted }.map { rows[$0].item }
    }

    /// Whether a link on the way to one of the entry's values is null.
    private func hasMissing(_ entry: Entry) -> Bool {
        keys.indices.contains { keys[$0].hasLinks && values[entry.slot + $0].isMissing }
    }
}
