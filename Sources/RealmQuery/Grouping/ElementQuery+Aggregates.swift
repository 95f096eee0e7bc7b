// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension ElementQuery {
    /// Calculates aggregates over the values that match, after all steps.
    ///
    /// - Parameters:
    ///   - requests: The aggregates, whose path is `self`; none gives the count alone.
    ///   - values: The elements of the collection, in order.
    ///   - owner: The object that holds the collection.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: The number of values, nulls included, and the aggregates in the order of the
    ///   requests.
    /// - Throws: `QueryError.invalid` for another path or a type that does not support the function,
    ///   and `.cancelled` when the check asks to stop.
    package func aggregate(
        _ requests: [AggregateRequest], over values: [Value], owner: Row, check: BoundQuery.Check? = nil
    ) throws(QueryError) -> (count: Int, results: [AggregateResult]) {
        var folds: [ValueCollector] = []
        for request in requests {
            try ElementQuery.requireSelf(request.path)
            try request.require(type)
            folds.append(ValueCollector(request.combination, of: type, cancellation))
        }
        let positions = try execute(values, owner: owner, check: check)
        let heldCount = requests.filter(\.isStatistic).count * positions.count
        try storage { () throws(StorageError) in try cancellation.hold(heldCount) }
        defer { cancellation.release(heldCount) }
        for position in positions {
            for index in folds.indices {
                try storage { () throws(StorageError) in try folds[index].add(values[position]) }
            }
        }
        return (positions.count, folds.map(\.result))
    }
}
