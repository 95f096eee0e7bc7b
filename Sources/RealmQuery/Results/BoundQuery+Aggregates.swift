// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension BoundQuery {
    /// Calculates aggregates over the results, after all descriptors, in one pass.
    ///
    /// - Parameters:
    ///   - requests: The aggregates; none gives the count alone.
    ///   - check: Is called from time to time and returns whether to go on.
    /// - Returns: The number of results, and the aggregates in the order of the requests.
    /// - Throws: `QueryError.invalid` for an unknown path or a type that does not support the
    ///   function, `.storage` for a damaged file, and `.cancelled` when the check asks to stop.
    /// - Complexity: O(number of results), in addition to finding them.
    package func aggregate(
        _ requests: [AggregateRequest], check: Check? = nil
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        try cancellation.watching(check) { () throws(QueryError) in try aggregateWatched(requests, check) }
    }

    /// Calculates the aggregates, after `aggregate` has installed the check of the query.
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

    /// Returns the aggregator for a request.
    ///
    /// - Throws: `QueryError.invalid` when the path does not exist, or its type does not support
    ///   the function.
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

    /// Calls a closure with the results, as rows of leaves where they are in object order,
    /// otherwise one by one.
    ///
    /// - Parameter columns: The columns that the closure reads of them, so that their memory is
    ///   requested early.
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
