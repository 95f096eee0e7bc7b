// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Orders the rows of a scan by number, date or bool properties of the class itself, straight from the packed leaves.
///
/// With a limit, a leaf is first asked at once for the rows that could still get among the best; mostly it has none.
/// Without one, all keys are collected and sorted by their digits, which needs no comparisons.
final class PackedSorter {
    private let keys: [SortKey]
    /// With a limit.
    private var best: TopK?
    /// Without a limit: the keys of all rows, one array per sort key.
    private var collected: [[OrderKey]]
    private var items: [Int64] = []
    private let finder: ObjectFinder
    private let interrupt: Interrupt

    /// Nil when a key is of another kind, or when a limit comes with several keys.
    init?(_ keys: [SortKey], limit: Int, table: Table, _ interrupt: Interrupt) {
        guard keys.allSatisfy({ $0.isPlainColumn && PackedSorter.isPackable($0.column.type) }) else { return nil }
        self.keys = keys
        self.interrupt = interrupt
        finder = ObjectFinder(table)
        collected = []
        if limit < table.count {
            best = TopK(limit: limit)
        } else {
            collected = keys.map { _ in [] }
        }
    }

    private static func isPackable(_ type: ColumnType) -> Bool {
        switch type {
        case .int, .bool, .float, .double, .timestamp: return true
        default: return false
        }
    }

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

    /// The rows that could get among the best.
    @inline(__always)
    private func candidates(_ rows: Mask, _ test: (Relation, OrderKey) -> Mask) -> Mask {
        guard let worst = best?.worst else { return rows }
        let isStrict = keys.count == 1
        if keys[0].isAscending { return rows & test(isStrict ? .less : .lessOrEqual, worst) }
        return rows & test(isStrict ? .greater : .greaterOrEqual, worst.reversed)
    }

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

    /// Compares two objects by all keys but the first.
    private func compareRest(_ left: Int64, _ right: Int64) throws(StorageError) -> Int {
        guard keys.count > 1, let leftRow = try finder.find(ObjectKey(left)), let rightRow = try finder.find(ObjectKey(right))
        else { return 0 }
        try interrupt.step(keys.count)
        for key in keys.dropFirst() {
            let order = Value.order(try key.value(leftRow), try key.value(rightRow))
            if order != 0 { return key.isAscending ? order : -order }
        }
        return 0
    }

    // MARK: - Without a limit

    private func collect(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        // The keys of numbers are half as large as values.
        try interrupt.require(valueCount: items.count / 2 * keys.count + 1)
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

    /// The rows in order.
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

/// Sorts rows by unsigned numbers, digit by digit, from the lowest digit up; stable.
enum DigitSort {
    private static let digitBits = 11

    /// `order` with the rows sorted by `keys[row]`.
    static func sorted(_ order: [UInt32], by keys: [OrderKey], isAscending: Bool) -> [UInt32] {
        guard let least = keys.min(), let greatest = keys.max(), least != greatest else { return order }
        let range = greatest.rawValue - least.rawValue
        guard let bits = UInt64(exactly: range).map({ 64 - $0.leadingZeroBitCount }) else {
            return order.enumerated().sorted { left, right in
                let leftKey = keys[Int(left.element)]
                let rightKey = keys[Int(right.element)]
                if leftKey != rightKey { return (leftKey < rightKey) == isAscending }
                return left.offset < right.offset
            }.map(\.element)
        }
        // Counted from the end they come first from, all keys fit into 64 bits.
        var digits = [UInt64](repeating: 0, count: keys.count)
        for row in keys.indices {
            let distance = isAscending ? keys[row].rawValue - least.rawValue : greatest.rawValue - keys[row].rawValue
            digits[row] = UInt64(truncatingIfNeeded: distance)
        }
        return sorted(order, by: digits, bitCount: bits)
    }

    private static func sorted(_ order: [UInt32], by digits: [UInt64], bitCount: Int) -> [UInt32] {
        var source = order
        var target = order
        let buckets = 1 << digitBits
        for shift in stride(from: 0, to: bitCount, by: digitBits) {
            var starts = [Int](repeating: 0, count: buckets + 1)
            for row in source { starts[Int(truncatingIfNeeded: digits[Int(row)] >> UInt64(shift)) & (buckets - 1) + 1] += 1 }
            if starts.contains(source.count) { continue }
            for bucket in 1...buckets { starts[bucket] += starts[bucket - 1] }
            for row in source {
                let bucket = Int(truncatingIfNeeded: digits[Int(row)] >> UInt64(shift)) & (buckets - 1)
                target[starts[bucket]] = row
                starts[bucket] += 1
            }
            swap(&source, &target)
        }
        return source
    }
}
