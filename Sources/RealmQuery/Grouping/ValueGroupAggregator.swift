// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines the values of each group for which there is no faster aggregator: decimals, dates, mixed
/// values, and properties of linked objects.
final class ValueGroupAggregator: GroupAggregator {
    let key: SortKey
    /// A fold to which nothing was added, with which each group begins.
    private let empty: ValueFold
    private var folds: [ValueFold] = []

    /// Creates the aggregator for a property of any type that supports the function.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        empty = ValueFold(function, of: key.column.type)
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        folds.extend(to: count, with: empty)
        var place = 0
        try rows.forEach { row throws(StorageError) in
            folds[Int(groups[place])].add(try key.value(Row(leaf: leaf, index: row)))
            place += 1
        }
    }

    var bytesPerGroup: Int { MemoryLayout<ValueFold>.stride }

    func release() { folds = [] }

    func result(of group: Int) -> AggregateResult { folds[group].result }
}
