// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Sorts the rows of a scan by properties of the class itself that are numbers, dates or bools,
/// straight from the packed leaves.
///
/// With a limit, a kernel first finds the rows of a leaf that could still get among the best; mostly there are none. Without a
/// limit, all keys are collected and sorted by their digits, without comparisons.
final class PackedSorter {
    /// The keys to sort by; the first one decides, the others decide between equal values.
    private let keys: [SortKey]
    /// The best rows so far, when only a limited number is needed; nil without a limit.
    private var best: TopK?
    /// Without a limit, the keys of all rows, one array for each sort key.
    private var collected: [[OrderKey]]
    /// The object keys of all rows, when there is no limit.
    private var items: [Int64] = []
    /// Finds the objects that are compared by the keys after the first one.
    private let finder: ObjectFinder
    private let cancellation: CancellationCheck

    /// Creates a sorter without rows, if all keys can be read from packed leaves.
    ///
    /// - Parameters:
    ///   - limit: The number of rows that are needed. A limit that the class cannot reach counts as
    ///     none.
    ///   - table: The class of the rows.
    ///   - cancellation: The check that can stop the query, and that limits the keys that are
    ///     collected.
    /// - Returns: Nil when a key is not a plain column of a suitable type; then a `RowSorter` is
    ///   needed.
    init?(_ keys: [SortKey], limit: Int, table: Table, _ cancellation: CancellationCheck) {
        guard keys.allSatisfy({ $0.isPlainColumn && PackedSorter.isPackable($0.column.type) }) else { return nil }
        self.keys = keys
        self.cancellation = cancellation
        finder = ObjectFinder(table)
        collected = []
        if limit < table.count {
            best = TopK(limit: limit)
        } else {
            collected = keys.map { _ in [] }
        }
    }

    /// Whether values of the type are packed numbers that can be ordered without reading them one by one.
    private static func isPackable(_ type: ColumnType) -> Bool {
        switch type {
        case .int, .bool, .float, .double, .timestamp: return true
        default: return false
        }
    }

    /// Adds the rows of a leaf, in ascending order.
    ///
    /// - Throws: A storage error, also when more keys would be collected than the query may hold.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        guard best != nil else { return try collect(leaf, rows) }
        switch try keys[0].values(of: leaf) {
        case .int(let values):
            try offer(leaf, candidates(rows) { values.rows($0, $1) }) { values.orderKey($0) }
        case .bool(let values):
            try offer(leaf, candidates(rows) { values.rows($0, $1) }) { values.orderKey($0) }
        case .float(let values):
            try offer(leaf, candidates(rows) { values.rows($0, $1) }) { values.orderKey($0) }
        case .double(let values):
            try offer(leaf, candidates(rows) { values.rows($0, $1) }) { values.orderKey($0) }
        case .timestamp(let values):
            let open = candidates(rows) { values.rows($0, $1) }
            try offer(leaf, open) { row throws(StorageError) in try values.orderKey(row) }
        default: break
        }
    }

    // MARK: - With a limit

    /// The rows that could get among the best, judging by the first key.
    ///
    /// - Parameter test: Returns the rows of the leaf whose key has a relation to another key.
    @inline(__always)
    private func candidates(_ rows: Mask, _ test: (Relation, OrderKey) -> Mask) -> Mask {
        guard let worst = best?.worst else { return rows }
        let isStrict = keys.count == 1
        if keys[0].isAscending { return rows & test(isStrict ? .less : .lessOrEqual, worst) }
        return rows & test(isStrict ? .greater : .greaterOrEqual, worst.reversed)
    }

    /// Offers rows to the best ones; each replaces the worst of them if it is better.
    @inline(__always)
    private func offer(
        _ leaf: ClusterLeaf, _ rows: Mask, _ key: (Int) throws(StorageError) -> OrderKey
    ) throws(StorageError) {
        guard !rows.isEmpty, var best else { return }
        self.best = nil
        defer { self.best = best }
        let isAscending = keys[0].isAscending
        try rows.forEach { row throws(StorageError) in
            let value = try key(row)
            try best.offer(isAscending ? value : value.reversed, leaf.key(at: row).rawValue, order: compareRest)
        }
    }

    /// Compares two objects by all sort keys but the first. Negative means that the left one comes first.
    private func compareRest(_ left: Int64, _ right: Int64) throws(StorageError) -> Int {
        guard keys.count > 1, let leftRow = try finder.find(ObjectKey(left)), let rightRow = try finder.find(ObjectKey(right))
        else { return 0 }
        try cancellation.step(keys.count)
        for key in keys.dropFirst() {
            let order = SortKey.order(try key.value(leftRow), try key.value(rightRow))
            if order != 0 { return key.isAscending ? order : -order }
        }
        return 0
    }

    // MARK: - Without a limit

    /// Collects the keys of the rows of a leaf, for sorting without a limit.
    private func collect(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        // The packed keys take half as much memory as values, so twice as many are allowed.
        try cancellation.require(valueCount: items.count / 2 * keys.count + 1)
        rows.forEach { items.append(leaf.key(at: $0).rawValue) }
        for (index, key) in keys.enumerated() {
            switch try key.values(of: leaf) {
            case .int(let values): rows.forEach { collected[index].append(values.orderKey($0)) }
            case .bool(let values): rows.forEach { collected[index].append(values.orderKey($0)) }
            case .float(let values): rows.forEach { collected[index].append(values.orderKey($0)) }
            case .double(let values): rows.forEach { collected[index].append(values.orderKey($0)) }
            case .timestamp(let values):
                try rows.forEach { row throws(StorageError) in collected[index].append(try values.orderKey(row)) }
            default: break
            }
        }
    }

    /// Returns the object keys of the rows in order. Rows with equal keys are in object order.
    func finish() throws(StorageError) -> [Int64] {
        if let best { return try best.sorted(order: compareRest).map(\.row) }
        var order = Array(0..<UInt32(truncatingIfNeeded: items.count))
        // From the last key to the first: each pass is stable and keeps what the earlier ones did.
        for index in keys.indices.reversed() {
            order = DigitSort.sorted(order, by: collected[index], isAscending: keys[index].isAscending)
        }
        return order.map { items[Int($0)] }
    }
}
