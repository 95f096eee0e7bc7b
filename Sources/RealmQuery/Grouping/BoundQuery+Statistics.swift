// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension BoundQuery {
    /// Calculates aggregates of which some are statistics, as of one group.
    func collect(
        _ requests: [AggregateRequest],
        _ forEach: ((ClusterLeaf, Mask) throws(StorageError) -> Void) throws(QueryError) -> Void
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        var aggregators: [any GroupAggregator] = []
        defer { aggregators.forEach { $0.release() } }
        for request in requests {
            let key = try sortKey(request.path)
            try request.require(key.column.type)
            aggregators.append(request.groupAggregator(of: key, cancellation))
        }
        let groups = [UInt32](repeating: 0, count: Mask.capacity)
        var count = 0
        try forEach { leaf, rows throws(StorageError) in
            let rowCount = rows.count
            for aggregator in aggregators {
                try cancellation.step(rowCount)
                try aggregator.add(leaf, rows, to: groups, of: 1)
            }
            count += rowCount
        }
        if count > 0 { return (count, aggregators.map { $0.result(of: 0) }) }
        var results: [AggregateResult] = []
        for request in requests {
            switch request.combination {
            case .function: results.append(try aggregator(request).result)
            case .statistic(.distinct): results.append(.value(.int(0)))
            case .statistic(.percentile): results.append(.value(.null))
            }
        }
        return (0, results)
    }
}
