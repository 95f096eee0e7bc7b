// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines the values for which there is no faster aggregator: decimals, mixed values, and properties of linked objects.
final class ValueAggregator: ResultAggregator {
    let key: SortKey
    /// The fold of the values that were added so far.
    private var fold: ValueFold

    /// Creates the aggregator for a property of any type that supports the function.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        fold = ValueFold(function, of: key.column.type)
        self.key = key
    }

    /// Adds the values of several rows one by one. Rows with a null link on the way to the value are left out.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in fold.add(try key.value(Row(leaf: leaf, index: row))) }
    }

    var partial: AggregatePartial { .values(fold) }

    func merge(_ partial: AggregatePartial) { if case .values(let other) = partial { fold.merge(other) } }

    /// The result so far; `overflow` when the exact sum of integers does not fit into 64 bits.
    var result: AggregateResult { fold.result }
}
