// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A scan of two parts of a class at the same time by one thread, a leaf of one after a leaf of the other.
///
/// A sum of reals is rounded at each step, so it is calculated in the order of the objects, and the processor waits for each addition. The sums of
/// two parts are independent of each other: the same numbers come out in little more than the time of one part.
struct PairedScan {
    /// The state of one of the two parts.
    private struct Side {
        /// The leaves of the part.
        let cursor: MatchCursor
        /// The aggregators, in the order of the requests.
        let aggregators: [any ResultAggregator]
        /// How many objects have been added.
        var count = 0

        /// The results so far.
        var partial: ScanPartial { ScanPartial(count: count, aggregates: aggregators.map(\.partial)) }
    }

    /// The query, which has no condition that objects are tested by.
    private let query: BoundQuery
    /// The part that was taken first.
    private var left: Side
    /// The other part.
    private var right: Side

    /// Whether two parts are calculated together faster than one after the other: all objects match, and a sum of doubles is requested.
    static func isUseful(for query: BoundQuery, _ aggregators: [any ResultAggregator]) throws(QueryError) -> Bool {
        guard try query.plan().isExact else { return false }
        return aggregators.contains { ($0 as? RealAggregator)?.isSum ?? false }
    }

    /// Prepares the scan of two parts.
    init(_ query: BoundQuery, _ parts: (ScanPart, ScanPart), _ requests: [AggregateRequest]) throws(QueryError) {
        self.query = query
        left = try PairedScan.side(query, parts.0, requests)
        right = try PairedScan.side(query, parts.1, requests)
    }

    /// Prepares one part.
    private static func side(
        _ query: BoundQuery, _ part: ScanPart, _ requests: [AggregateRequest]
    ) throws(QueryError) -> Side {
        let aggregators = try query.aggregators(requests)
        let columns = BoundQuery.columns(aggregators)
        return Side(
            cursor: try MatchCursor(query, after: part.after, through: part.through, reading: columns), aggregators: aggregators)
    }

    /// Scans both parts to their ends.
    ///
    /// - Parameter check: Returns whether to continue.
    /// - Returns: The results of both.
    mutating func run(_ check: BoundQuery.Check?) throws(QueryError) -> (ScanPartial, ScanPartial) {
        while let next = try left.cursor.nextWatched(check) {
            guard let other = try right.cursor.nextWatched(check) else {
                try PairedScan.add(next.leaf, next.rows, to: &left, of: query)
                break
            }
            if next.rows.count == next.leaf.count, other.rows.count == other.leaf.count {
                try add(next.leaf, other.leaf)
            } else {
                try PairedScan.add(next.leaf, next.rows, to: &left, of: query)
                try PairedScan.add(other.leaf, other.rows, to: &right, of: query)
            }
        }
        try PairedScan.finish(&left, of: query, check)
        try PairedScan.finish(&right, of: query, check)
        return (left.partial, right.partial)
    }

    /// Adds all rows of a leaf of each part.
    private mutating func add(_ leaf: ClusterLeaf, _ other: ClusterLeaf) throws(QueryError) {
        left.count += leaf.count
        right.count += other.count
        for (aggregator, otherAggregator) in zip(left.aggregators, right.aggregators) {
            try storage { () throws(StorageError) in
                try query.cancellation.step(leaf.count &+ other.count)
                if let sum = aggregator as? RealAggregator, sum.isSum, let otherSum = otherAggregator as? RealAggregator {
                    return try sum.add(leaf, and: other, to: otherSum)
                }
                try aggregator.add(leaf, leaf.allRows)
                try otherAggregator.add(other, other.allRows)
            }
        }
    }

    /// Adds rows of a leaf of one part.
    private static func add(
        _ leaf: ClusterLeaf, _ rows: Mask, to side: inout Side, of query: BoundQuery
    ) throws(QueryError) {
        let aggregators = side.aggregators
        side.count += try storage { () throws(StorageError) in try query.add(leaf, rows, to: aggregators) }
    }

    /// Scans what is left of one part.
    private static func finish(_ side: inout Side, of query: BoundQuery, _ check: BoundQuery.Check?) throws(QueryError) {
        while let (leaf, rows) = try side.cursor.nextWatched(check) { try add(leaf, rows, to: &side, of: query) }
    }
}
