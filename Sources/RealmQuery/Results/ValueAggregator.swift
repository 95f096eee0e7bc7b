// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Combines the values for which there is no faster aggregator: decimals, mixed values, and
/// properties of linked objects.
final class ValueAggregator: ResultAggregator {
    let key: SortKey
    /// The way in which the values of the property are combined.
    private let function: AggregateRequest.Function
    /// The fold of the values, by the rules of aggregates in the query language.
    private var aggregation: Aggregation
    /// The exact sum of integers, which the fold would wrap around.
    private var intSum: Int128 = 0

    /// Creates the aggregator for a property of any type that supports the function.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        aggregation = Aggregation(function.aggregateOperator, of: key.column.type)
        self.function = function
        self.key = key
    }

    /// Adds the values of several rows one by one. Rows with a null link on the way to the value
    /// are left out.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in
            let value = try key.value(Row(leaf: leaf, index: row))
            guard !value.isMissing else { return }
            if case .int(let number) = value { intSum += Int128(number) }
            aggregation.add(value)
        }
    }

    /// The result so far; `overflow` when the exact sum of integers does not fit into 64 bits.
    var result: AggregateResult {
        if function == .sum, key.column.type == .int {
            return Int64(exactly: intSum).map { .value(.int($0)) } ?? .overflow
        }
        return .value(aggregation.result)
    }
}
