// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Everything else: decimals, mixed values, dates, and properties behind links.
final class ValueAggregator: ResultAggregator {
    let key: SortKey
    private let function: AggregateRequest.Function
    private var aggregation: Aggregation
    private var intSum: Int128 = 0

    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        aggregation = Aggregation(function.aggregateOperator, of: key.column.type)
        self.function = function
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in
            let value = try key.value(Row(leaf: leaf, index: row))
            guard !value.isMissing else { return }
            if case .int(let number) = value { intSum += Int128(number) }
            aggregation.add(value)
        }
    }

    var result: AggregateResult {
        if function == .sum, key.column.type == .int {
            return Int64(exactly: intSum).map { .value(.int($0)) } ?? .overflow
        }
        return .value(aggregation.result)
    }
}
