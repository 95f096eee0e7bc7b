// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Iterates over the matches of a predicate in object order, leaf by leaf. Nothing is collected, so
/// results of any size take the same memory.
///
/// The cursor keeps the snapshot alive. It is used by one thread at a time, not necessarily always the same one.
package final class MatchCursor {
    /// The query whose matches are delivered. It holds the snapshot.
    private let query: BoundQuery
    /// All leaves of the class; not used when an index offers candidates.
    private var leaves: ClusterCursor
    /// Whether all leaves are scanned.
    private let isScan: Bool
    /// The keys that an index offers; nil when all leaves are scanned, or when nothing can match.
    private var candidates: CandidateKeys?
    /// The condition that candidates have to fulfil; nil when all of them match.
    private let condition: (any Condition)?
    /// The number of matches that are still to be left out.
    private var skip: Int
    /// The number of matches that are still to be delivered.
    private var remaining: Int
    /// The object after which the matches begin; nil to begin with the first one.
    private var after: ObjectKey?
    /// The last object that may match; nil for no such limit. Only scans have one.
    private let through: ObjectKey?
    /// The number of leaves that pass without a call of the check; long work within a leaf calls it separately.
    private static let leavesPerCheck = 3
    /// The number of leaves that may still pass before the check is called again.
    private var leavesUntilCheck = 0
    /// Whether the last call of `next` returned nil only because its time had passed.
    package private(set) var isPaused = false

    /// Creates a cursor and makes the plan of the query, if that has none yet.
    ///
    /// - Parameters:
    ///   - after: The object after which the result begins.
    ///   - skip: The number of matches to leave out from there.
    ///   - limit: The greatest number of matches to deliver.
    ///   - through: The last object that is scanned; nil for all.
    ///   - columns: The columns that the caller reads of the matches, besides those of the query
    ///     itself.
    /// - Throws: A query error when an index cannot be read.
    init(
        _ query: BoundQuery, after: ObjectKey? = nil, skip: Int = 0, limit: Int = .max, through: ObjectKey? = nil,
        reading columns: [Column] = []
    ) throws(QueryError) {
        self.query = query
        self.through = through
        self.after = after
        self.skip = skip
        remaining = limit
        let plan = try query.plan().reading(atMost: limit, of: query.table)
        condition = plan.isExact ? nil : plan.condition
        isScan = plan.access.isScan
        leaves = query.table.leaves()
        switch plan.access {
        case .nothing: break
        case .scan:
            let first = try condition == nil && after == nil && skip > 0 ? placeAfterSkipped() : after
            leaves = query.table.leaves(from: first, hints: query.hints(reading: columns))
        case .lookup(let lookup):
            candidates = try storage { () throws(StorageError) in try lookup.candidates(query.statistics) }
            try skipCandidates(isExact: plan.isExact)
        }
    }

    /// Leaves out whole leaves when all objects of the class match, which are counted without being read.
    ///
    /// - Returns: The object at which the result begins, or nil where it has none or begins at the first one.
    private func placeAfterSkipped() throws(QueryError) -> ObjectKey? {
        let row = try storage { () throws(StorageError) in try query.table.objects.row(at: skip) }
        guard let row else {
            remaining = 0
            return nil
        }
        skip = row.index
        return row.key
    }

    /// Leaves out the candidates before the first result, as far as that is possible without reading objects.
    private func skipCandidates(isExact: Bool) throws(QueryError) {
        if let after { try storage { () throws(StorageError) in try candidates?.skip(through: after) } }
        if isExact, skip > 0 { skip -= candidates?.skip(skip) ?? 0 }
    }

    /// Returns the next leaf with matches.
    ///
    /// - Parameters:
    ///   - check: Is called before the first leaf, then every few leaves, and now and then within
    ///     one. After it has asked to stop, the cursor cannot be used any more.
    ///   - pause: A moment at which to return even if nothing was found. `isPaused` is true then,
    ///     and the next call continues.
    /// - Returns: The leaf and the rows in it that match; nil at the end or at a pause.
    /// - Throws: `QueryError.cancelled` when the check asks to stop, and `.storage` when the file
    ///   is damaged.
    package func next(
        check: BoundQuery.Check? = nil, pauseAt pause: Instant? = nil
    ) throws(QueryError) -> (leaf: ClusterLeaf, rows: Mask)? {
        try query.cancellation.watching(check) { () throws(QueryError) in try nextWatched(check, pause) }
    }

    /// Returns the next leaf with matches, like `next`, for callers that have installed the check of the query already.
    func nextWatched(_ check: BoundQuery.Check?, _ pause: Instant? = nil) throws(QueryError) -> (leaf: ClusterLeaf, rows: Mask)? {
        isPaused = false
        while remaining > 0 {
            if let check, isTimeToAsk(), !check() { throw .cancelled }
            if let pause, Instant.now() >= pause {
                isPaused = true
                return nil
            }
            guard isScan else {
                guard let (leaf, rows) = try storage({ () throws(StorageError) in try looked() }) else { break }
                if let taken = try taken(rows) { return (leaf, taken) }
                continue
            }
            // A leaf is large, so that nothing here passes it on together with something else before it is returned.
            let next: ClusterLeaf?
            do throws(StorageError) { next = try leaves.next() } catch { throw QueryError(storage: error) }
            guard let leaf = next, !isBehindEnd(leaf) else { break }
            let rows: Mask
            do throws(StorageError) { rows = try matches(allowed(leaf), leaf) } catch { throw QueryError(storage: error) }
            if let taken = try taken(rows) { return (leaf, taken) }
        }
        if query.cancellation.isStopped { throw .cancelled }
        return nil
    }

    /// Counts a leaf, and returns whether the check is to be called before it.
    private func isTimeToAsk() -> Bool {
        leavesUntilCheck &-= 1
        guard leavesUntilCheck < 0 else { return false }
        leavesUntilCheck = MatchCursor.leavesPerCheck
        return true
    }

    /// The rows of a leaf that are delivered; nil when there are none.
    @inline(__always)
    private func taken(_ rows: Mask) throws(QueryError) -> Mask? {
        if query.cancellation.isStopped { throw .cancelled }
        guard !rows.isEmpty else { return nil }
        guard skip > 0 || remaining != .max else { return rows }
        let taken = take(rows)
        return taken.isEmpty ? nil : taken
    }

    /// The rows that remain after leaving out the first ones and up to the limit.
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

    /// The next leaf in which an index offers objects, with its matches; nil at the end.
    private func looked() throws(StorageError) -> (leaf: ClusterLeaf, rows: Mask)? {
        guard let (leaf, rows) = try nextCandidates() else { return nil }
        return (leaf, try matches(rows, leaf))
    }

    /// Returns the rows of a leaf that fulfil the condition; all of them when there is no condition to test.
    private func matches(_ rows: Mask, _ leaf: ClusterLeaf) throws(StorageError) -> Mask {
        guard let condition else { return rows }
        return try condition.evaluate(leaf, rows)
    }

    /// Returns the next candidates of an index that are in one leaf; nil when there are none left.
    ///
    /// The candidates ascend, so each leaf is looked for once and need not be kept.
    private func nextCandidates() throws(StorageError) -> (leaf: ClusterLeaf, rows: Mask)? {
        while let key = try candidates?.peek() {
            // Whether the object is visible is a part of the condition.
            guard key.rawValue >= 0, let first = try query.table.objects.find(key) else {
                candidates?.drop(key)
                continue
            }
            var rows = Mask.none
            var taken = 0
            while let key = try candidates?.peek(), let row = first.leaf.row(of: key) {
                rows[row] = true
                candidates?.drop(key)
                taken += 1
                // Once the limit is reached, the other keys of the leaf are not needed.
                if condition == nil, taken == skip &+ remaining { break }
            }
            return (first.leaf, rows)
        }
        return nil
    }

    /// Whether all objects of a leaf come after the last one that is scanned.
    @inline(__always)
    private func isBehindEnd(_ leaf: ClusterLeaf) -> Bool {
        guard let through, leaf.count > 0 else { return false }
        return through < leaf.key(at: 0)
    }

    /// Returns the rows of a scanned leaf between the object after which the result begins and the last one that is scanned.
    @inline(__always)
    private func allowed(_ leaf: ClusterLeaf) -> Mask {
        var rows = leaf.allRows
        if let after {
            rows = rows.subtracting(Mask(first: MatchCursor.end(of: after, in: leaf)))
            // The leaves that follow have greater keys only.
            if !rows.isEmpty { self.after = nil }
        }
        guard let through, leaf.count > 0, through < leaf.key(at: leaf.count &- 1) else { return rows }
        return rows & Mask(first: MatchCursor.end(of: through, in: leaf))
    }

    /// The first row of a leaf behind an object.
    private static func end(of key: ObjectKey, in leaf: ClusterLeaf) -> Int {
        let first = leaf.lowerBound(of: key)
        return first < leaf.count && leaf.key(at: first) == key ? first + 1 : first
    }
}
