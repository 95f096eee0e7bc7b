// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension BoundQuery {
    /// Aggregates over the results, after all descriptors, and their count.
    ///
    /// Throws `.invalid` for an unknown path, or one whose type does not take the function.
    package func aggregate(
        _ requests: [AggregateRequest], check: Check? = nil
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        try cancellation.watching(check) { () throws(QueryError) in try aggregateWatched(requests, check) }
    }

    private func aggregateWatched(
        _ requests: [AggregateRequest], _ check: Check?
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        var aggregators: [any ResultAggregator] = []
        for request in requests { aggregators.append(try aggregator(request)) }
        var count = 0
        let columns = aggregators.filter { $0.key.isPlainColumn }.map(\.key.column)
        try forEachResult(check, reading: columns) { leaf, rows throws(StorageError) in
            let rowCount = rows.count
            count += rowCount
            for aggregator in aggregators {
                try cancellation.step(rowCount)
                try aggregator.add(leaf, rows)
            }
        }
        return (count, aggregators.map(\.result))
    }

    private func aggregator(_ request: AggregateRequest) throws(QueryError) -> any ResultAggregator {
        var resolver = PathResolver(snapshot: snapshot, mapping: mapping, pool: pool)
        resolver.text = request.path
        let key = try resolver.sortKey(try Parser.parsePath(request.path), from: table, isAscending: true)
        guard let aggregator = request.function.aggregator(of: key) else {
            throw QueryError.invalid(
                .typeMismatch,
                detail:
                    "'\(request.function.rawValue)' is not supported for '\(request.path)' of type '\(OperandType(key.column.type).rawValue)'",
                culprit: request.path, position: nil)
        }
        return aggregator
    }

    private func forEachResult(
        _ check: Check?, reading columns: [Column], _ body: (ClusterLeaf, Mask) throws(StorageError) -> Void
    ) throws(QueryError) {
        if let cursor = try cursor(reading: columns) {
            while let (leaf, rows) = try cursor.nextWatched(check) {
                try storage { () throws(StorageError) in try body(leaf, rows) }
            }
            return
        }
        let finder = ObjectFinder(table)
        for key in try execute(check: check) {
            try storage { () throws(StorageError) in
                try cancellation.step()
                guard let row = try finder.find(key) else { return }
                var rows = Mask.none
                rows[row.index] = true
                try body(row.leaf, rows)
            }
        }
    }
}
