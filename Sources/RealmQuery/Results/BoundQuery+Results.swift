// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension BoundQuery {
    /// Are results in object order, so that they can be streamed by `cursor`?
    package var isInObjectOrder: Bool {
        steps.allSatisfy {
            if case .limit = $0 { return true }
            return false
        }
    }

    /// Streams the results in object order; nil when sorting or distinct values forbid it. `columns` are what will be read
    /// of the results.
    package func cursor(
        _ window: ResultWindow = .all, reading columns: [Column] = []
    ) throws(QueryError) -> MatchCursor? {
        guard isInObjectOrder else { return nil }
        let limit = min(window.limit ?? .max, max(limitOfSteps - window.offset, 0))
        return try MatchCursor(self, after: window.after?.key, skip: window.offset, limit: limit, reading: columns)
    }

    /// The keys of the results in their order.
    package func execute(_ window: ResultWindow = .all, check: Check? = nil) throws(QueryError) -> [ObjectKey] {
        try cancellation.watching(check) { () throws(QueryError) in try executeWatched(window, check) }
    }

    private func executeWatched(_ window: ResultWindow, _ check: Check?) throws(QueryError) -> [ObjectKey] {
        if let keys = try exactKeys(window) { return keys }
        guard let cursor = try cursor(window) else { return try executeSteps(window, check) }
        var keys: [ObjectKey] = []
        while let (leaf, rows) = try cursor.nextWatched(check) { rows.forEach { keys.append(leaf.key(at: $0)) } }
        return keys
    }

    /// The rows of the results as they lie in the leaves, in object order; nil when sorting or distinct values forbid it.
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

    /// The number of results, after all descriptors.
    package func count(check: Check? = nil) throws(QueryError) -> Int {
        try cancellation.watching(check) { () throws(QueryError) in try countWatched(check) }
    }

    private func countWatched(_ check: Check?) throws(QueryError) -> Int {
        if !hasDistinct, let count = try plan().exactCount(in: table) { return min(count, limitOfSteps) }
        guard let cursor = try isOnlySorted ? MatchCursor(self) : cursor() else { return try executeSteps(.all, check).count }
        var count = 0
        while let (_, rows) = try cursor.nextWatched(check) { count += rows.count }
        return count
    }

    /// Order alone changes no number.
    private var isOnlySorted: Bool {
        steps.allSatisfy {
            if case .sort = $0 { return true }
            return false
        }
    }

    private var hasDistinct: Bool {
        steps.contains { if case .distinct = $0 { true } else { false } }
    }

    /// The least of the limits in the steps.
    private var limitOfSteps: Int {
        var limit = Int.max
        for case .limit(let count) in steps { limit = min(limit, count) }
        return limit
    }

    /// The results when an index alone tells them, so that no object has to be looked at; nil otherwise.
    private func exactKeys(_ window: ResultWindow) throws(QueryError) -> [ObjectKey]? {
        let plan = try plan()
        guard isInObjectOrder, plan.isExact, case .lookup(let lookup, _) = plan.access else { return nil }
        let limit = min(window.limit ?? .max, max(limitOfSteps - window.offset, 0))
        return try storage { () throws(StorageError) in
            var candidates = try lookup.candidates(in: table, statistics)
            if let after = window.after { try candidates.skip(through: after.key) }
            var skip = window.offset - candidates.skip(window.offset)
            var keys: [ObjectKey] = []
            while keys.count < limit, let key = try candidates.peek() {
                candidates.drop(key)
                if skip > 0 { skip -= 1 } else { keys.append(key) }
                try cancellation.step()
            }
            return keys
        }
    }

    /// Does an object fulfil the predicate? Descriptors are left out.
    package func matches(_ row: Row, check: Check? = nil) throws(QueryError) -> Bool {
        try cancellation.watching(check) { () throws(QueryError) in
            try storage { () throws(StorageError) in
                let isMatch = try condition.matches(row)
                try cancellation.requireGoingOn()
                return isMatch
            }
        }
    }

    /// Filters, sorts and prunes a given sequence of objects, as a list of links has them: the same object may stand
    /// in it several times. Returns positions in `keys`.
    package func execute(over keys: [ObjectKey], check: Check? = nil) throws(QueryError) -> [Int] {
        try cancellation.watching(check) { () throws(QueryError) in try executeWatched(over: keys, check) }
    }

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

    private func distinctMatches(_ keys: [SortKey], _ check: Check?) throws(QueryError) -> [Int64] {
        if let filter = DistinctFilter(keys, cancellation) {
            try scan(check) { leaf, rows throws(StorageError) in try filter.add(leaf, rows) }
            return filter.items
        }
        let sorter = RowSorter(keys, cancellation)
        try scan(check) { leaf, rows throws(StorageError) in try sorter.add(leaf, rows) }
        return try storage { () throws(StorageError) in try sorter.finishDistinct() }
    }

    private func scan(
        _ check: Check?, _ body: (ClusterLeaf, Mask) throws(StorageError) -> Void
    ) throws(QueryError) {
        let cursor = try MatchCursor(self)
        while let (leaf, rows) = try cursor.nextWatched(check) {
            try storage { () throws(StorageError) in try body(leaf, rows) }
        }
    }

    private func collect(_ cursor: MatchCursor, _ check: Check?) throws(QueryError) -> [Int64] {
        var items: [Int64] = []
        while let (leaf, rows) = try cursor.nextWatched(check) { rows.forEach { items.append(leaf.key(at: $0).rawValue) } }
        return items
    }

    /// Applies the remaining steps to rows that `key` finds.
    private func apply(
        _ steps: ArraySlice<ResultStep>, to items: [Int64], _ window: ResultWindow, _ check: Check?,
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

    /// How many rows a sort has to keep, given what follows.
    private func limit(_ pending: ArraySlice<ResultStep>, _ window: ResultWindow) -> Int {
        switch pending.first {
        case .limit(let limit): return limit
        // A page that starts behind an object needs all rows, unless the sorter itself leaves out those before.
        case nil: return window.after == nil || endsWithSort ? window.end : .max
        default: return .max
        }
    }

    // MARK: - Pages

    private func slice(_ items: [Int64], _ window: ResultWindow) throws(QueryError) -> [ObjectKey] {
        var items = items[...]
        // A sort that is the last step has left out the pages before already.
        if let position = window.after, !endsWithSort { items = try itemsBehind(position, items) }
        return items.dropFirst(window.offset).prefix(window.limit ?? .max).map { ObjectKey($0) }
    }

    private var endsWithSort: Bool {
        if case .sort? = steps.last { return steps.count == 1 }
        return false
    }

    /// The keys by which the result is sorted in the end.
    private var finalSort: [SortKey] {
        for step in steps.reversed() { if case .sort(let keys) = step { return keys } }
        return []
    }

    private func bound(_ window: ResultWindow, _ keys: [SortKey]) -> RowSorter.Bound? {
        guard let position = window.after, position.cells.count == keys.count else { return nil }
        let values = position.cells.map { cell -> Value in
            switch cell {
            case .missing: return .missing
            case .value(let value): return value.value(in: pool)
            case .dictionary: return .dictionary(.none)
            }
        }
        return RowSorter.Bound(values: values, key: position.key)
    }

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

    /// Where an object stands in the order of the result, to start the next page from.
    package func position(of row: Row) throws(QueryError) -> PagePosition {
        var cells: [PagePosition.Cell] = []
        for key in finalSort {
            let value = try storage { () throws(StorageError) in try key.value(row) }
            if case .dictionary = value {
                cells.append(.dictionary)
                continue
            }
            cells.append(value.isMissing ? .missing : .value(QueryArgument(copying: value)))
        }
        return PagePosition(cells: cells, key: row.key)
    }

    /// What the result is sorted by in the end: labels with their directions, to recognise a page position by.
    package var sortLabels: [String] { finalSort.map { ($0.isAscending ? "" : "-") + $0.label } }
}
