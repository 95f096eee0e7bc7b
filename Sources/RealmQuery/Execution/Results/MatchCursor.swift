// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Walks the matches of a predicate in object order, leaf by leaf: nothing is collected, so results of any size take
/// the same memory.
///
/// Keeps the snapshot. Used by one thread at a time, not necessarily the same one.
package final class MatchCursor {
    private enum Source {
        case leaves(ClusterCursor)
        /// Candidates from an index, ascending, and how many are done.
        case keys([ObjectKey], next: Int)
    }

    private let query: BoundQuery
    private let finder: ObjectFinder
    private var source: Source
    private var skip: Int
    private var remaining: Int
    /// Objects up to this one are left out.
    private let after: ObjectKey?

    /// `after` starts behind an object; `skip` and `limit` count matches from there.
    init(_ query: BoundQuery, after: ObjectKey? = nil, skip: Int = 0, limit: Int = .max) throws(QueryError) {
        self.query = query
        self.after = after
        self.skip = skip
        remaining = limit
        finder = ObjectFinder(query.table)
        if let keys = try query.indexedKeys() {
            source = .keys(keys, next: 0)
        } else {
            source = .leaves(query.table.leaves(from: after))
        }
    }

    /// The next leaf with matches and their rows; nil at the end. `check` is asked before each leaf.
    package func next(check: BoundQuery.Check? = nil) throws(QueryError) -> (leaf: ClusterLeaf, rows: Mask)? {
        query.interrupt.check = check
        defer { query.interrupt.check = nil }
        while remaining > 0 {
            if let check, !check() { throw .cancelled }
            let found = try storage { () throws(StorageError) in try advance() }
            guard let (leaf, rows) = found else { return nil }
            if rows.isEmpty { continue }
            let taken = take(rows)
            if !taken.isEmpty { return (leaf, taken) }
        }
        return nil
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
        switch source {
        case .leaves(var cursor):
            let leaf = try cursor.next()
            source = .leaves(cursor)
            guard let leaf else { return nil }
            return (leaf, try query.condition.evaluate(leaf, allowed(leaf.allRows, leaf)))
        case .keys(let keys, let next):
            guard let (leaf, candidates, end) = try candidates(keys, from: next) else { return nil }
            source = .keys(keys, next: end)
            return (leaf, try query.condition.evaluate(leaf, allowed(candidates, leaf)))
        }
    }

    /// The candidates from `start` on that lie in one leaf.
    private func candidates(
        _ keys: [ObjectKey], from start: Int
    ) throws(StorageError) -> (leaf: ClusterLeaf, rows: Mask, end: Int)? {
        var index = start
        while index < keys.count {
            guard let first = try finder.find(keys[index]) else {
                index += 1
                continue
            }
            var rows = Mask.none
            while index < keys.count, let row = first.leaf.row(of: keys[index]) {
                rows[row] = true
                index += 1
            }
            return (first.leaf, rows, index)
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
