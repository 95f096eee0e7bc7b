// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Walks the matches of a predicate in object order, leaf by leaf: nothing is collected, so results of any size take
/// the same memory.
///
/// Keeps the snapshot. Used by one thread at a time, not necessarily the same one.
package final class MatchCursor {
    private let query: BoundQuery
    /// All leaves, when no index offers candidates. Stands by itself so that it moves on in place.
    private var leaves: ClusterCursor?
    /// What an index offers; nil when there are `leaves`, or when nothing can match.
    private var candidates: CandidateKeys?
    /// What is tested; nil when all candidates match.
    private let condition: (any Condition)?
    private let finder: ObjectFinder
    private var skip: Int
    private var remaining: Int
    /// Objects up to this one are left out.
    private let after: ObjectKey?
    /// Leaves that are passed without a question: what takes long inside of one asks by itself.
    private static let leavesPerCheck = 3
    private var leavesUntilCheck = 0
    /// Whether the last `next` found nothing only because its time was over.
    package private(set) var isPaused = false

    /// `after` starts behind an object; `skip` and `limit` count matches from there. `columns` are what the caller reads
    /// of the matches, besides what the query itself does.
    init(
        _ query: BoundQuery, after: ObjectKey? = nil, skip: Int = 0, limit: Int = .max, reading columns: [Column] = []
    ) throws(QueryError) {
        self.query = query
        self.after = after
        self.skip = skip
        remaining = limit
        finder = ObjectFinder(query.table)
        let plan = try query.plan()
        condition = plan.isExact ? nil : plan.condition
        switch plan.access {
        case .nothing: break
        case .scan: leaves = query.table.leaves(from: after, hints: query.hints(reading: columns))
        case .lookup(let lookup, _):
            candidates = try storage { () throws(StorageError) in
                try lookup.candidates(in: query.table, query.statistics)
            }
            try skipCandidates(isExact: plan.isExact)
        }
    }

    /// Leaves out what lies before the first result, as far as that needs no look at the objects.
    private func skipCandidates(isExact: Bool) throws(QueryError) {
        if let after { try storage { () throws(StorageError) in try candidates?.skip(through: after) } }
        if isExact, skip > 0 { skip -= candidates?.skip(skip) ?? 0 }
    }

    /// The next leaf with matches and their rows; nil at the end. `check` is asked before the first leaf, then every few leaves,
    /// and within one now and then: after its refusal the cursor is of no use any more.
    ///
    /// Nil is also the answer when nothing was found up to `pause`; then `isPaused` is true, and the next call goes on.
    package func next(
        check: BoundQuery.Check? = nil, pauseAt pause: Instant? = nil
    ) throws(QueryError) -> (leaf: ClusterLeaf, rows: Mask)? {
        try query.cancellation.watching(check) { () throws(QueryError) in try nextWatched(check, pause) }
    }

    /// The same while the query is watched already.
    func nextWatched(_ check: BoundQuery.Check?, _ pause: Instant? = nil) throws(QueryError) -> (leaf: ClusterLeaf, rows: Mask)? {
        isPaused = false
        while remaining > 0 {
            if let check, isTimeToAsk(), !check() { throw .cancelled }
            if let pause, Instant.now() >= pause {
                isPaused = true
                return nil
            }
            guard let (leaf, rows) = try storage({ () throws(StorageError) in try advance() }) else { break }
            if query.cancellation.isStopped { throw .cancelled }
            if rows.isEmpty { continue }
            let taken = take(rows)
            if !taken.isEmpty { return (leaf, taken) }
        }
        if query.cancellation.isStopped { throw .cancelled }
        return nil
    }

    private func isTimeToAsk() -> Bool {
        leavesUntilCheck &-= 1
        guard leavesUntilCheck < 0 else { return false }
        leavesUntilCheck = MatchCursor.leavesPerCheck
        return true
    }

    /// What is left of the rows after skipping, up to the limit.
    private func take(_ rows: Mask) -> Mask {
        var rows = rows
        if skip > 0 {
            let count = rows.count
            rows = rows.dropFirst(skip)
            skip = max(skip - count, 0)
        }
        if remaining < Mask.capacity { rows = rows.prefix(remaining) }
        if remaining != .max { remaining -= rows.count }
        return rows
    }

    private func advance() throws(StorageError) -> (ClusterLeaf, Mask)? {
        if leaves != nil {
            guard let leaf = try leaves?.next() else { return nil }
            return (leaf, try matches(allowed(leaf.allRows, leaf), leaf))
        }
        guard let (leaf, rows) = try nextCandidates() else { return nil }
        return (leaf, try matches(rows, leaf))
    }

    private func matches(_ rows: Mask, _ leaf: ClusterLeaf) throws(StorageError) -> Mask {
        guard let condition else { return rows }
        return try condition.evaluate(leaf, rows)
    }

    /// The next candidates that lie in one leaf.
    private func nextCandidates() throws(StorageError) -> (leaf: ClusterLeaf, rows: Mask)? {
        while let key = try candidates?.peek() {
            guard let first = try finder.find(key) else {
                candidates?.drop(key)
                continue
            }
            var rows = Mask.none
            var taken = 0
            while let key = try candidates?.peek(), let row = first.leaf.row(of: key) {
                rows[row] = true
                candidates?.drop(key)
                taken += 1
                // Further keys of the leaf are of no use once the limit is reached.
                if condition == nil, taken == skip &+ remaining { break }
            }
            return (first.leaf, rows)
        }
        return nil
    }

    private func allowed(_ rows: Mask, _ leaf: ClusterLeaf) -> Mask {
        guard let after else { return rows }
        let first = leaf.lowerBound(of: after)
        let isThere = first < leaf.count && leaf.key(at: first) == after
        return rows.subtracting(Mask(first: first + (isThere ? 1 : 0)))
    }
}
