// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension BoundQuery {
    /// Whether results come in the order of their object keys, so that `cursor` can stream them.
    package var isInObjectOrder: Bool {
        steps.allSatisfy {
            if case .limit = $0 { return true }
            return false
        }
    }

    /// Returns a cursor that streams the results in object order.
    ///
    /// - Parameters:
    ///   - window: The part of the result that is wanted.
    ///   - columns: The columns that the caller will read of the results, so that their memory is
    ///     requested early.
    /// - Returns: Nil when the query sorts or keeps distinct values only; then `execute` is needed.
    /// - Throws: A query error when an index cannot be read.
    package func cursor(
        _ window: ResultWindow = .all, reading columns: [Column] = []
    ) throws(QueryError) -> MatchCursor? {
        guard isInObjectOrder else { return nil }
        let limit = min(window.limit ?? .max, max(limitOfSteps - window.offset, 0))
        return try MatchCursor(self, after: window.after?.key, skip: window.offset, limit: limit, reading: columns)
    }

    /// Returns the keys of the results, in the order of the result.
    ///
    /// - Parameters:
    ///   - window: The part of the result that is wanted.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Throws: `QueryError.storage` for a damaged file or when the query would hold too many
    ///   values, and `.cancelled` when the check asks to stop.
    package func execute(_ window: ResultWindow = .all, check: Check? = nil) throws(QueryError) -> [ObjectKey] {
        try cancellation.watching(check) { () throws(QueryError) in try executeWatched(window, check) }
    }

    /// Returns the keys of the results, after `execute` has installed the check of the query.
    private func executeWatched(_ window: ResultWindow, _ check: Check?) throws(QueryError) -> [ObjectKey] {
        if let keys = try exactKeys(window) { return keys }
        guard let cursor = try cursor(window) else { return try executeSteps(window, check) }
        var keys: [ObjectKey] = []
        while let (leaf, rows) = try cursor.nextWatched(check) { rows.forEach { keys.append(leaf.key(at: $0)) } }
        return keys
    }

    /// Returns the results as rows of leaves, in object order, so that a page can be written from the leaves.
    ///
    /// - Parameters:
    ///   - window: The part of the result that is wanted.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: Nil when the query sorts or keeps distinct values only.
    /// - Throws: `QueryError.storage` for a damaged file, and `.cancelled` when the check asks to
    ///   stop.
    package func leaves(
        _ window: ResultWindow, check: Check? = nil
    ) throws(QueryError) -> [(leaf: ClusterLeaf, rows: Mask)]? {
        guard isInObjectOrder else { return nil }
        return try cancellation.watching(check) { () throws(QueryError) in
            guard let cursor = try cursor(window) else { return nil }
            var leaves: [(leaf: ClusterLeaf, rows: Mask)] = []
            while let next = try cursor.nextWatched(check) { leaves.append(next) }
            return leaves
        }
    }

    /// Returns the number of results, after all descriptors.
    ///
    /// An index or the class alone gives the number where that is possible; otherwise the matches are counted.
    ///
    /// - Parameter check: Is called from time to time and returns whether to continue.
    /// - Throws: `QueryError.storage` for a damaged file, and `.cancelled` when the check asks to
    ///   stop.
    /// - Complexity: O(n) for n objects of the class; a few steps in the index when that determines
    ///   the number.
    package func count(check: Check? = nil) throws(QueryError) -> Int {
        try cancellation.watching(check) { () throws(QueryError) in try countWatched(check) }
    }

    /// Returns the number of results, after `count` has installed the check of the query.
    private func countWatched(_ check: Check?) throws(QueryError) -> Int {
        if !hasDistinct, let count = try plan().exactCount(in: table) { return min(count, limitOfSteps) }
        if let parts = try scanParts() { return try scan(parts, [], check).reduce(0) { $0 + $1.count } }
        guard let cursor = try isOnlySorted ? MatchCursor(self) : cursor() else { return try executeSteps(.all, check).count }
        var count = 0
        while let (_, rows) = try cursor.nextWatched(check) { count += rows.count }
        return count
    }

    /// Whether all steps sort, so that the number of results is that of the matches.
    private var isOnlySorted: Bool {
        steps.allSatisfy {
            if case .sort = $0 { return true }
            return false
        }
    }

    /// Whether a step keeps only one object for each combination of values.
    private var hasDistinct: Bool {
        steps.contains { if case .distinct = $0 { true } else { false } }
    }

    /// The least of the limits in the steps; `Int.max` without one.
    private var limitOfSteps: Int {
        var limit = Int.max
        for case .limit(let count) in steps { limit = min(limit, count) }
        return limit
    }

    /// The results when an index alone determines them, so that no object has to be read; nil otherwise.
    private func exactKeys(_ window: ResultWindow) throws(QueryError) -> [ObjectKey]? {
        let plan = try plan()
        guard isInObjectOrder, plan.isExact, case .lookup(let lookup) = plan.access else { return nil }
        let limit = min(window.limit ?? .max, max(limitOfSteps - window.offset, 0))
        return try storage { () throws(StorageError) in
            var candidates = try lookup.candidates(statistics)
            if let after = window.after { try candidates.skip(through: after.key) }
            var skip = window.offset - candidates.skip(window.offset)
            if skip == 0, let keys = try candidates.takeAll(atMost: limit) {
                try cancellation.step(keys.count)
                return keys
            }
            var keys: [ObjectKey] = []
            while keys.count < limit, let key = try candidates.peek() {
                candidates.drop(key)
                if skip > 0 { skip -= 1 } else { keys.append(key) }
                try cancellation.step()
            }
            return keys
        }
    }

    /// Returns whether an object fulfils the predicate, whatever the descriptors are.
    ///
    /// - Parameters:
    ///   - row: An object of the class.
    ///   - check: Is called from time to time and returns whether to continue; one object can take long, through many links.
    /// - Throws: `QueryError.storage` for a damaged file, and `.cancelled` when the check asks to
    ///   stop.
    package func matches(_ row: Row, check: Check? = nil) throws(QueryError) -> Bool {
        try cancellation.watching(check) { () throws(QueryError) in
            try storage { () throws(StorageError) in
                let isMatch = try condition.matches(row)
                try cancellation.requireGoingOn()
                return isMatch
            }
        }
    }

    /// Filters, sorts and prunes a given sequence of objects, such as a list of links, in which an
    /// object may occur several times.
    ///
    /// - Parameters:
    ///   - keys: The objects in their present order. Keys of objects that do not exist are left
    ///     out.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: The positions in `keys` that remain, in the order of the result.
    /// - Throws: The same errors as `execute`.
    package func execute(over keys: [ObjectKey], check: Check? = nil) throws(QueryError) -> [Int] {
        try cancellation.watching(check) { () throws(QueryError) in try executeWatched(over: keys, check) }
    }

    /// Filters a sequence of objects, after `execute` has installed the check of the query.
    private func executeWatched(over keys: [ObjectKey], _ check: Check?) throws(QueryError) -> [Int] {
        let finder = ObjectFinder(table)
        var items: [Int64] = []
        for (position, key) in keys.enumerated() {
            if position & 0xff == 0, let check, !check() { throw .cancelled }
            let isMatch = try storage { () throws(StorageError) in
                guard let row = try finder.find(key) else { return false }
                return try condition.matches(row)
            }
            if isMatch { items.append(Int64(position)) }
        }
        try storage { () throws(StorageError) in try cancellation.requireGoingOn() }
        return try apply(steps[...], to: items, .all, check) { keys[Int($0)] }.map { Int($0) }
    }

    // MARK: - Steps

    /// Finds the matches, applies all steps to them, and takes the wanted part.
    private func executeSteps(_ window: ResultWindow, _ check: Check?) throws(QueryError) -> [ObjectKey] {
        var pending = steps[...]
        let items: [Int64]
        switch pending.popFirst() {
        case .sort(let keys):
            items = try sortedMatches(
                keys, limit: limit(pending, window), after: pending.isEmpty ? bound(window, keys) : nil, check)
        case .distinct(let keys): items = try distinctMatches(keys, check)
        case .limit(let limit):
            let cursor = try MatchCursor(self, limit: limit)
            items = try collect(cursor, check)
        case nil: items = try collect(try MatchCursor(self), check)
        }
        let results = try apply(pending, to: items, window, check) { ObjectKey($0) }
        return try slice(results, window)
    }

    /// Scans the matches into a sorter, in packed form where the keys allow it.
    ///
    /// - Parameters:
    ///   - limit: The number of rows that are needed.
    ///   - bound: The row after which the result begins, when the sort is the last step.
    /// - Returns: The object keys in order.
    private func sortedMatches(
        _ keys: [SortKey], limit: Int, after bound: RowSorter.Bound?, _ check: Check?
    ) throws(QueryError) -> [Int64] {
        if bound == nil, let sorter = PackedSorter(keys, limit: limit, table: table, cancellation) {
            try scan(check) { leaf, rows throws(StorageError) in try sorter.add(leaf, rows) }
            return try storage { () throws(StorageError) in try sorter.finish() }
        }
        let sorter = RowSorter(keys, limit: limit, after: bound, cancellation)
        try scan(check) { leaf, rows throws(StorageError) in try sorter.add(leaf, rows) }
        return try storage { () throws(StorageError) in try sorter.finish() }
    }

    /// Scans the matches and keeps the first one of each combination of values.
    private func distinctMatches(_ keys: [SortKey], _ check: Check?) throws(QueryError) -> [Int64] {
        if let filter = DistinctFilter(keys, cancellation) {
            try scan(check) { leaf, rows throws(StorageError) in try filter.add(leaf, rows) }
            return filter.items
        }
        let sorter = RowSorter(keys, cancellation)
        try scan(check) { leaf, rows throws(StorageError) in try sorter.add(leaf, rows) }
        return try storage { () throws(StorageError) in try sorter.finishDistinct() }
    }

    /// Calls a closure with the matches of the predicate, leaf by leaf.
    private func scan(
        _ check: Check?, _ body: (ClusterLeaf, Mask) throws(StorageError) -> Void
    ) throws(QueryError) {
        let cursor = try MatchCursor(self)
        while let (leaf, rows) = try cursor.nextWatched(check) {
            try storage { () throws(StorageError) in try body(leaf, rows) }
        }
    }

    /// Collects the object keys of all rows that a cursor delivers, as numbers.
    private func collect(_ cursor: MatchCursor, _ check: Check?) throws(QueryError) -> [Int64] {
        var items: [Int64] = []
        while let (leaf, rows) = try cursor.nextWatched(check) { rows.forEach { items.append(leaf.key(at: $0).rawValue) } }
        return items
    }

    /// Applies the remaining steps to rows.
    ///
    /// - Parameters:
    ///   - steps: The steps that were not applied yet.
    ///   - items: The rows in their present order, as numbers.
    ///   - window: The part of the result that is wanted, which limits a last sort.
    ///   - key: Returns the object of a number: the number itself is its key, or a position in a
    ///     list.
    private func apply(
        _ steps: ArraySlice<QueryPlan.ResultStep>, to items: [Int64], _ window: ResultWindow, _ check: Check?,
        key: (Int64) -> ObjectKey
    ) throws(QueryError) -> [Int64] {
        var items = items
        var pending = steps
        while let step = pending.popFirst() {
            switch step {
            case .limit(let limit): items = Array(items.prefix(limit))
            case .sort(let keys):
                let sorter = RowSorter(keys, limit: limit(pending, window), cancellation)
                try feed(items, check, key: key) { row, item throws(StorageError) in try sorter.add(row, item) }
                items = try storage { () throws(StorageError) in try sorter.finish() }
            case .distinct(let keys):
                if let filter = DistinctFilter(keys, cancellation) {
                    try feed(items, check, key: key) { row, item throws(StorageError) in try filter.add(row, item) }
                    items = filter.items
                } else {
                    let sorter = RowSorter(keys, cancellation)
                    try feed(items, check, key: key) { row, item throws(StorageError) in try sorter.add(row, item) }
                    items = try storage { () throws(StorageError) in try sorter.finishDistinct() }
                }
            }
        }
        return items
    }

    /// Calls a closure with the objects of rows, in their present order. Objects that do not exist are left out.
    private func feed(
        _ items: [Int64], _ check: Check?, key: (Int64) -> ObjectKey,
        _ body: (Row, Int64) throws(StorageError) -> Void
    ) throws(QueryError) {
        let finder = ObjectFinder(table)
        for (position, item) in items.enumerated() {
            if position & 0xff == 0, let check, !check() { throw .cancelled }
            try storage { () throws(StorageError) in
                if let row = try finder.find(key(item)) { try body(row, item) }
            }
        }
    }

    /// The number of rows that a sort has to keep, given the step that follows and the wanted part.
    private func limit(_ pending: ArraySlice<QueryPlan.ResultStep>, _ window: ResultWindow) -> Int {
        switch pending.first {
        case .limit(let limit): return limit
        // A page that starts after an object needs all rows, unless the sorter itself leaves out those before.
        case nil: return window.after == nil || endsWithSort ? window.end : .max
        default: return .max
        }
    }

    // MARK: - Pages

    /// Returns the wanted part of all results: those after a page position, without the offset, up to the limit.
    private func slice(_ items: [Int64], _ window: ResultWindow) throws(QueryError) -> [ObjectKey] {
        var items = items[...]
        // A sort as the only step has already left out the pages before.
        if let position = window.after, !endsWithSort { items = try itemsBehind(position, items) }
        return items.dropFirst(window.offset).prefix(window.limit ?? .max).map { ObjectKey($0) }
    }

    /// Whether the only step is a sort, which itself leaves out the rows of the pages before.
    private var endsWithSort: Bool {
        if case .sort? = steps.last { return steps.count == 1 }
        return false
    }

    /// The keys by which the result is sorted in the end; empty for object order.
    private var finalSort: [SortKey] {
        for step in steps.reversed() { if case .sort(let keys) = step { return keys } }
        return []
    }

    /// The last row of the page before, with its values in the form in which they are compared; nil
    /// without a page position, or when that belongs to other sort keys.
    private func bound(_ window: ResultWindow, _ keys: [SortKey]) -> RowSorter.Bound? {
        guard let position = window.after, (position.values?.count ?? position.cells.count) == keys.count else { return nil }
        let values =
            position.values
            ?? position.cells.map { cell -> Value in
                switch cell {
                case .missing: return .missing
                case .value(let value): return value.value(in: pool)
                case .dictionary: return .dictionary(.none)
                }
            }
        return RowSorter.Bound(values: values, key: position.key)
    }

    /// The rows that come after a page position, for a result that is sorted and then pruned.
    private func itemsBehind(
        _ position: PagePosition, _ items: ArraySlice<Int64>
    ) throws(QueryError) -> ArraySlice<Int64> {
        let keys = finalSort
        guard let bound = bound(ResultWindow(after: position), keys) else { return items }
        let finder = ObjectFinder(table)
        var kept: [Int64] = []
        for item in items {
            let isBehind = try storage { () throws(StorageError) in
                guard let row = try finder.find(ObjectKey(item)) else { return false }
                for (index, key) in keys.enumerated() {
                    let value = try key.value(row)
                    try cancellation.step(for: value, and: bound.values[index])
                    let order = SortKey.order(value, bound.values[index])
                    if order != 0 { return key.isAscending ? order > 0 : order < 0 }
                }
                return row.key > bound.key
            }
            if isBehind { kept.append(item) }
        }
        return kept[...]
    }

    /// Returns the place of an object in the order of the result, from which the next page starts.
    ///
    /// - Parameter row: An object of the result.
    /// - Returns: Copies of the values by which the result is sorted, and the object's key.
    /// - Throws: `QueryError.storage` when the file is damaged.
    package func position(of row: Row) throws(QueryError) -> PagePosition {
        PagePosition(cells: try sortValues(of: row).map { PagePosition.Cell(copying: $0) }, key: row.key)
    }

    /// Returns the values by which the result is sorted, as an object has them.
    ///
    /// - Throws: `QueryError.storage` when the file is damaged.
    package func sortValues(of row: Row) throws(QueryError) -> [Value] {
        try storage { () throws(StorageError) in
            var values: [Value] = []
            for key in finalSort { values.append(try key.value(row)) }
            return values
        }
    }

    /// The key paths by which the result is sorted in the end, with a hyphen before descending
    /// ones. A page position is valid only for a query with the same labels.
    package var sortLabels: [String] { finalSort.map { ($0.isAscending ? "" : "-") + $0.label } }
}
