// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension BoundQuery {
    /// Calculates aggregates over the results, after all descriptors, in one pass.
    ///
    /// - Parameters:
    ///   - requests: The aggregates; none gives the count alone.
    ///   - check: Is called from time to time and returns whether to continue.
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
        if requests.contains(where: \.isStatistic) {
            return try collect(requests) { body throws(QueryError) in try forEachResult(check, reading: [], body) }
        }
        let aggregators = try self.aggregators(requests)
        if let parts = try scanParts() {
            var count = 0
            for partial in try scan(parts, requests, check) {
                count += partial.count
                for (aggregator, part) in zip(aggregators, partial.aggregates) { aggregator.merge(part) }
            }
            return (count, aggregators.map(\.result))
        }
        var count = 0
        try forEachResult(check, reading: BoundQuery.columns(aggregators)) { leaf, rows throws(StorageError) in
            count += try add(leaf, rows, to: aggregators)
        }
        return (count, aggregators.map(\.result))
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to aggregators: [any ResultAggregator]) throws(StorageError) -> Int {
        let count = rows.count
        for aggregator in aggregators {
            try cancellation.step(count)
            try aggregator.add(leaf, rows)
        }
        return count
    }

    /// Returns an aggregator for each request; throws the errors of `aggregator`.
    func aggregators(_ requests: [AggregateRequest]) throws(QueryError) -> [any ResultAggregator] {
        var aggregators: [any ResultAggregator] = []
        for request in requests { aggregators.append(try aggregator(request)) }
        return aggregators
    }

    /// The columns that aggregators read of the objects themselves.
    static func columns(_ aggregators: [any ResultAggregator]) -> [Column] {
        aggregators.filter { $0.key.isPlainColumn }.map(\.key.column)
    }

    /// Calculates aggregates over those of some objects that are in the result, such as the links of
    /// a list. An object counts as often as it occurs.
    ///
    /// - Parameters:
    ///   - requests: The aggregates; none gives the count alone.
    ///   - keys: The objects. Keys of objects that do not exist are left out.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: The number of objects in the result, and the aggregates in the order of the
    ///   requests.
    /// - Throws: The same errors as `aggregate(_:check:)`.
    /// - Complexity: O(number of keys), in addition to sorting where the query sorts.
    package func aggregate(
        _ requests: [AggregateRequest], over keys: [ObjectKey], check: Check? = nil
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        try cancellation.watching(check) { () throws(QueryError) in
            if requests.contains(where: \.isStatistic) {
                let positions = try execute(over: keys)
                return try collect(requests) { body throws(QueryError) in
                    try forEachObject(positions.lazy.map { keys[$0] }, body)
                }
            }
            let aggregators = try self.aggregators(requests)
            let positions = try execute(over: keys)
            try forEachObject(positions.lazy.map { keys[$0] }) { leaf, rows throws(StorageError) in
                for aggregator in aggregators { try aggregator.add(leaf, rows) }
            }
            return (positions.count, aggregators.map(\.result))
        }
    }

    /// Returns the aggregator for a request.
    ///
    /// - Throws: `QueryError.invalid` when the path does not exist, or its type does not support
    ///   the function.
    func aggregator(_ request: AggregateRequest) throws(QueryError) -> any ResultAggregator {
        let key = try sortKey(request.path)
        try request.require(key.column.type)
        // Statistics are collected in another way.
        guard case .function(let function) = request.combination else { return ValueAggregator(.min, key) }
        return function.aggregator(of: key) ?? ValueAggregator(function, key)
    }

    /// Resolves a key path from the class of the query, for aggregates and groups.
    ///
    /// - Throws: `QueryError.invalid` when it does not exist, is a collection, or passes through a
    ///   to-many link.
    func sortKey(_ path: String) throws(QueryError) -> SortKey {
        var resolver = PathResolver(snapshot: snapshot, mapping: mapping, pool: pool)
        resolver.text = path
        resolver.cancellation = cancellation
        return try resolver.sortKey(try Parser.parsePath(path), from: table, isAscending: true)
    }

    /// Calls a closure with the results, as rows of leaves where they are in object order, otherwise one by one.
    ///
    /// - Parameter columns: The columns that the closure reads of them, so that their memory is
    ///   requested early.
    func forEachResult(
        _ check: Check?, reading columns: [Column], _ body: (ClusterLeaf, Mask) throws(StorageError) -> Void
    ) throws(QueryError) {
        if let cursor = try cursor(reading: columns) {
            while let (leaf, rows) = try cursor.nextWatched(check) {
                try storage { () throws(StorageError) in try body(leaf, rows) }
            }
            return
        }
        try forEachObject(try execute(check: check), body)
    }

    /// Calls a closure with objects one by one, each as one row of its leaf. Keys of objects that do not exist are left out.
    func forEachObject(
        _ keys: some Sequence<ObjectKey>, _ body: (ClusterLeaf, Mask) throws(StorageError) -> Void
    ) throws(QueryError) {
        let finder = ObjectFinder(table)
        for key in keys {
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
