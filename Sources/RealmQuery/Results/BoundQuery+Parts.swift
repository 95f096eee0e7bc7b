// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Long scans, which several threads share.
///
/// A class of many objects is always scanned part by part, whether there are helpers or not, and the results of the parts are
/// combined in their order. So sums of reals are the same to the last digit, no matter which thread has calculated which part.
extension BoundQuery {
    /// The parts in which the matches are counted and aggregated; nil when they are found in another way than by a long scan.
    func scanParts() throws(QueryError) -> [ScanPart]? {
        guard steps.isEmpty, case .scan = try plan().reading(atMost: .max, of: table).access else { return nil }
        return try storage { () throws(StorageError) in try ScanPart.parts(of: table) }
    }

    /// Calculates aggregates of all parts, with the helpers that are free.
    ///
    /// - Parameters:
    ///   - parts: All parts of the class.
    ///   - requests: The aggregates; none for the count alone.
    ///   - check: Returns whether to continue. Only this thread calls it.
    /// - Returns: The results in the order of the parts.
    func scan(_ parts: [ScanPart], _ requests: [AggregateRequest], _ check: Check?) throws(QueryError) -> [ScanPartial] {
        let queue = ScanQueue(parts)
        defer { queue.stop() }
        if let helpers {
            let helperCount = min(helpers.limit, max(0, parts.count - 1))
            // This thread keeps the whole limit, as it does what helpers cannot do with their shares. All of them together keep less
            // than twice the limit.
            let (makeTwin, valueLimit, shareCount) = (makeTwin, cancellation.holdLimit, helperCount + 1)
            helpers.begin(helperCount) {
                BoundQuery.help(with: queue, requests, makeTwin) { $0.limitToShare(of: shareCount, holding: valueLimit) }
            }
        }
        try work(on: queue, requests, check)
        // A helper may have been kept from its part by other work of the machine.
        for position in parts.indices where !queue.has(position) {
            queue.store(try scan(parts[position], requests, check), at: position)
        }
        return queue.results.compactMap { $0 }
    }

    /// Takes parts as long as there are any. The thread of the query does a part that fails here, and gets the error if it fails again;
    /// so it does a part for which a helper would have to keep more than its share.
    private static func help(
        with queue: ScanQueue, _ requests: [AggregateRequest], _ makeTwin: () throws(QueryError) -> BoundQuery,
        limiting limit: (CancellationCheck) -> Void
    ) {
        do throws(QueryError) {
            let twin = try makeTwin()
            limit(twin.cancellation)
            let check: Check = { !queue.isStopped }
            try twin.cancellation.watching(check) { () throws(QueryError) in
                try twin.work(on: queue, requests, check)
            }
        } catch {
            return
        }
    }

    /// Takes parts as long as there are any, two at a time where that is faster.
    private func work(on queue: ScanQueue, _ requests: [AggregateRequest], _ check: Check?) throws(QueryError) {
        let isPaired = try PairedScan.isUseful(for: self, try aggregators(requests))
        while let position = queue.dequeue() {
            guard isPaired, let other = queue.dequeue() else {
                queue.store(try scan(queue.parts[position], requests, check), at: position)
                continue
            }
            var pair = try PairedScan(self, (queue.parts[position], queue.parts[other]), requests)
            let (partial, otherPartial) = try pair.run(check)
            queue.store(partial, at: position)
            queue.store(otherPartial, at: other)
        }
    }

    /// Calculates the aggregates of one part.
    private func scan(
        _ part: ScanPart, _ requests: [AggregateRequest], _ check: Check?
    ) throws(QueryError) -> ScanPartial {
        let aggregators = try aggregators(requests)
        let cursor = try MatchCursor(self, after: part.after, through: part.through, reading: BoundQuery.columns(aggregators))
        var count = 0
        while let (leaf, rows) = try cursor.nextWatched(check) {
            try storage { () throws(StorageError) in count += try add(leaf, rows, to: aggregators) }
        }
        return ScanPartial(count: count, aggregates: aggregators.map(\.partial))
    }
}
