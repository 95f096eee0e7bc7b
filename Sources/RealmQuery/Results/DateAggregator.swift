// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds the earliest or the latest date of a property of the class itself.
final class DateAggregator: ResultAggregator {
    let key: SortKey
    /// The extreme that is wanted: either `min` or `max`.
    private let function: AggregateRequest.Function
    /// The earliest or latest date so far; nil before the first one.
    private var extreme: Timestamp?

    /// Creates the aggregator for `min` or `max` of a timestamp property.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        self.function = function
        self.key = key
    }

    /// Keeps the extreme date of several rows, if it exceeds those before.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) {
        guard case .timestamp(let values) = try key.values(of: leaf) else { return }
        take(function == .min ? try values.minimum(rows) : try values.maximum(rows))
    }

    /// Keeps a date if it exceeds the extreme so far.
    private func take(_ date: Timestamp?) {
        guard let date else { return }
        extreme = extreme.map { function == .min ? Swift.min($0, date) : Swift.max($0, date) } ?? date
    }

    var partial: AggregatePartial { .date(extreme) }

    func merge(_ partial: AggregatePartial) { if case .date(let date) = partial { take(date) } }

    var result: AggregateResult { .value(extreme.map(Value.timestamp) ?? .null) }
}
