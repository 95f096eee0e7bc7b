// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Keeps the numbers of each group, for a percentile.
final class PercentileGroupAggregator: GroupAggregator {
    let key: SortKey
    private let share: Double
    private var numbers: [[Double]] = []
    /// The values of one leaf.
    private var scratch: [Value] = []
    private let cancellation: CancellationCheck
    private var heldCount = 0

    init(_ share: Double, _ key: SortKey, _ cancellation: CancellationCheck) {
        self.share = share
        self.key = key
        self.cancellation = cancellation
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        numbers.extend(to: count, with: [])
        // A number takes a quarter of what the check counts as a value, and an array may be twice as long as its contents.
        let needed = (rows.count + 1) / 2
        try cancellation.hold(needed)
        heldCount += needed
        scratch.removeAll(keepingCapacity: true)
        try key.append(leaf, rows, to: &scratch)
        for place in scratch.indices {
            if let number = Statistic.number(scratch[place]) { numbers[Int(groups[place])].append(number) }
        }
    }

    var bytesPerGroup: Int { MemoryLayout<[Double]>.stride + 32 }

    func result(of group: Int) -> AggregateResult {
        .value(Statistic.percentile(share, of: &numbers[group]).map(Value.double) ?? .null)
    }

    func release() {
        numbers = []
        cancellation.release(heldCount)
        heldCount = 0
    }
}
