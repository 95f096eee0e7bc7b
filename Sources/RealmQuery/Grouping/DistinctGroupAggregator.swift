// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Counts the distinct values of each group.
final class DistinctGroupAggregator: GroupAggregator {
    let key: SortKey
    private let numbers: GroupKey
    /// The pairs of group and value that occurred.
    private var pairs = IntegerNumbering()
    private var counts: [Int] = []
    /// The numbers of the values of one leaf.
    private var scratch = [UInt32](repeating: 0, count: Mask.capacity)
    private let cancellation: CancellationCheck
    private var heldCount = 0

    init(_ key: SortKey, _ cancellation: CancellationCheck) {
        self.key = key
        self.cancellation = cancellation
        numbers = GroupKey(key, nil, cancellation)
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        counts.extend(to: count, with: 0)
        try numbers.number(leaf, rows, into: &scratch)
        for place in 0..<rows.count {
            let known = pairs.count
            let pair = pairs.number(Int64(groups[place]) << 32 | Int64(scratch[place]))
            if Int(pair) == known, !numbers.value(Int(scratch[place])).isNull { counts[Int(groups[place])] += 1 }
        }
        let needed = (pairs.byteCount + numbers.byteCount) / CancellationCheck.bytesPerValue
        guard needed > heldCount else { return }
        try cancellation.hold(needed - heldCount)
        heldCount = needed
    }

    var bytesPerGroup: Int { MemoryLayout<Int>.stride }

    func result(of group: Int) -> AggregateResult { .value(.int(Int64(counts[group]))) }

    func release() {
        counts = []
        pairs = IntegerNumbering()
        cancellation.release(heldCount)
        heldCount = 0
    }
}
