// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Groups a result by the values of one or more key paths, in one pass over it.
///
/// Every row gets the number of its group, from the numbers of its values; the keys themselves are
/// made only in the end, one for each group.
final class Grouper {
    /// The first key path. It is apart from the others, so that there always is one.
    private let first: GroupKey
    /// The key paths after the first.
    private let others: [GroupKey]
    /// The calculations for each group.
    private let aggregators: [any GroupAggregator]
    /// The number of groups beyond which the result is refused.
    private let limit: Int
    /// For each key after the first, the numbers of pairs: the group so far, and the number of the key's value.
    private var pairs: [IntegerNumbering]
    /// How many rows each group has.
    private var sizes: [Int] = []
    /// The check that counts what the groups keep.
    private let cancellation: CancellationCheck
    /// How many values the check has counted for these groups.
    private var heldCount = 0
    /// The group of each row of a leaf.
    private var groups = [UInt32](repeating: 0, count: Mask.capacity)
    /// The numbers of the values of another key in a leaf.
    private var numbers = [UInt32](repeating: 0, count: Mask.capacity)

    /// Creates a grouper without rows.
    ///
    /// - Parameters:
    ///   - first: The first key path.
    ///   - others: The key paths after it.
    ///   - aggregators: The calculations for each group.
    ///   - limit: The largest number of groups.
    ///   - cancellation: The check of the query, which limits what all of its groups keep.
    init(
        _ first: GroupKey, _ others: some Sequence<GroupKey>, _ aggregators: [any GroupAggregator], limit: Int,
        cancellation: CancellationCheck
    ) {
        self.cancellation = cancellation
        self.first = first
        self.others = Array(others)
        self.aggregators = aggregators
        self.limit = limit
        pairs = self.others.map { _ in IntegerNumbering() }
    }

    /// All key paths, in their order.
    private var keys: [GroupKey] { [first] + others }

    /// The columns of the class that are read of each row.
    var columns: [Column] { (keys.map(\.key) + aggregators.map(\.key)).filter(\.isPlainColumn).map(\.column) }

    /// Adds several rows of a leaf.
    ///
    /// - Throws: `.stopped` with `tooManyGroups` or `tooManyValues`, and the errors of damaged files.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        if pairs.isEmpty, aggregators.isEmpty, try first.tally(leaf, rows) { return try requireRoom() }
        let rowCount = rows.count
        try first.number(leaf, rows, into: &groups)
        for index in pairs.indices {
            try others[index].number(leaf, rows, into: &numbers)
            for place in 0..<rowCount {
                groups[place] = pairs[index].number(Int64(groups[place]) << 32 | Int64(numbers[place]))
            }
        }
        try requireRoom()
        let count = self.count
        sizes.extend(to: count, with: 0)
        IntegerNumbering.tally(groups, count: rowCount, into: &sizes)
        for aggregator in aggregators { try aggregator.add(leaf, rows, to: groups, of: count) }
    }

    /// Throws a storage error when there are more groups than the result may have, or when all groups of the query take more memory
    /// than it may hold. Aggregates take theirs only afterwards.
    private func requireRoom() throws(StorageError) {
        guard count <= limit else { throw .stopped(.tooManyGroups(limit: limit)) }
        let needed = byteCount / CancellationCheck.bytesPerValue
        guard needed > heldCount else { return }
        try cancellation.hold(needed - heldCount)
        heldCount = needed
    }

    /// About the memory that the groups take, with the result that they become.
    private var byteCount: Int {
        let keys = first.byteCount + others.reduce(0) { $0 + $1.byteCount } + pairs.reduce(0) { $0 + $1.byteCount }
        let result = (1 + others.count) * MemoryLayout<Value>.stride + MemoryLayout<Int>.stride
        // The results of one aggregator after the other take the place of what it has kept for the groups.
        let aggregates = aggregators.reduce(0) { $0 + max($1.bytesPerGroup, MemoryLayout<AggregateResult>.stride) }
        return keys + count * (result + aggregates)
    }

    /// Gives back what the check has counted for these groups.
    func release() {
        cancellation.release(heldCount)
        heldCount = 0
    }

    /// How many groups there are so far.
    private var count: Int { pairs.last?.count ?? first.count }

    /// Whether a value was a collection inside Mixed, by which nothing can be grouped.
    var hasCollection: Bool { keys.contains(where: \.hasCollection) }

    /// The index of a key whose function met a mixed value of a type that it does not take.
    var keyWithOtherType: Int? { keys.firstIndex(where: \.hasOtherType) }

    /// Returns the groups in the order in which their first rows were added.
    func finish() -> GroupedResult {
        first.finishTally(into: &sizes)
        let keys = keys
        var columns = keys.map { _ in [Value]() }
        for group in 0..<count {
            var number = group
            for index in keys.indices.reversed() {
                if index > 0, let pair = pairs[index - 1].integers[number] {
                    columns[index].append(keys[index].value(Int(pair & 0xffff_ffff)))
                    number = Int(pair >> 32)
                } else {
                    columns[index].append(keys[index].value(number))
                }
            }
        }
        return GroupedResult(
            keys: columns, sizes: sizes,
            results: aggregators.map { $0.takeResults(count) }, owners: keys.flatMap(\.owners))
    }
}
