// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The earliest or latest date of the class itself.
final class DateAggregator: ResultAggregator {
    let key: SortKey
    private let function: AggregateRequest.Function
    private var extreme: Timestamp?

    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        guard case .timestamp(let values) = try key.values(of: leaf) else { return }
        let isLeast = function == .min
        guard let date = isLeast ? try values.minimum(rows) : try values.maximum(rows) else { return }
        extreme = extreme.map { isLeast ? Swift.min($0, date) : Swift.max($0, date) } ?? date
    }

    var result: AggregateResult { .value(extreme.map(Value.timestamp) ?? .null) }
}
