// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The rows of an observed result as the sequence of their keys, advanced from version to version.
///
/// A range is processed in the cheapest way that is possible:
///
/// - The changes cannot affect the rows: only modifications are determined.
/// - Objects can only enter or leave, and few were written: each of them is tested alone.
/// - Otherwise the query is evaluated again, and the two sequences are compared.
final class RowSequence {
    /// The effect of a range on the rows.
    struct Step {
        /// The positions of the rows that were removed, inserted or modified.
        let changes: CollectionChanges
        let deletedKeys: [ObjectKey]
        /// Whether the rows were determined again; if not, they are the same objects in the same order.
        let isEvaluated: Bool
    }

    /// The collection of objects that the rows are selected from.
    private let source: RowSource
    /// The selection and order of the rows.
    private let query: ObservedQuery
    /// The configured names of linking objects, for the query.
    private let names: BacklinkNames
    /// Limits the time of each evaluation of the query.
    private let clock: EvaluationClock
    /// The plan for the present version of the schema.
    private(set) var plan: RowPlan
    /// The keys of the rows in their order.
    private(set) var keys: [ObjectKey] = []
    /// Whether the object that the rows depend on was deleted, so that there are no rows.
    private(set) var isGone = false

    /// The divisor for the share of a class up to which written objects are tested one by one.
    private static let share = 8
    /// The number of rows up to which rows are replaced one by one.
    private static let fewRows = 8

    /// Evaluates the rows of a version.
    ///
    /// - Parameters:
    ///   - source: The collection of objects to select from.
    ///   - query: The selection and order.
    ///   - names: The configured names of linking objects.
    ///   - clock: Limits the time of evaluations.
    ///   - snapshot: The version.
    /// - Throws: `ObservationError`: `notFound` when the source does not exist, or the error of the
    ///   query.
    init(
        _ source: RowSource, _ query: ObservedQuery, names: BacklinkNames, clock: EvaluationClock, at snapshot: Snapshot
    ) throws(ObservationError) {
        self.source = source
        self.query = query
        self.names = names
        self.clock = clock
        plan = try RowPlan(source, query, names: names, clock: clock, at: snapshot)
        try restart(at: snapshot)
        if isGone { throw .notFound }
    }

    /// The memory in bytes that the keys take.
    var byteCount: Int { keys.capacity * MemoryLayout<ObjectKey>.stride }

    var table: TableKey { plan.table }

    /// Evaluates the rows of a version again, whatever has changed.
    func restart(at snapshot: Snapshot) throws(ObservationError) {
        plan = try RowPlan(source, query, names: names, clock: clock, at: snapshot)
        guard let keys = try plan.evaluate(in: snapshot) else {
            isGone = true
            self.keys = []
            return
        }
        self.keys = keys
    }

    /// Makes a new plan after classes or properties were added. The rows remain.
    func adapt(to snapshot: Snapshot) throws(ObservationError) {
        plan = try RowPlan(source, query, names: names, clock: clock, at: snapshot)
    }

    /// Returns the changes that may change the rows, their order, or one of the row objects.
    ///
    /// - Parameter filter: Decides which changes of objects count as modifications.
    func interest(_ filter: ObservedTarget.Filter) -> TargetInterest { plan.interest(filter) }

    /// Returns whether a range may change the rows, their order, or one of the row objects.
    ///
    /// - Parameters:
    ///   - range: The versions and the changes between them.
    ///   - filter: Decides which changes of objects count as modifications.
    func mayChange(over range: ObservedRange, _ filter: ObservedTarget.Filter) -> Bool {
        if let root = source.root, range.log.isDeleted(root) { return true }
        if case .none = plan.effect(of: range.log) { return range.mayModify(table, filter) }
        return true
    }

    /// Advances the rows over a range.
    ///
    /// - Parameters:
    ///   - range: The range, which starts at the version of the rows.
    /// - Returns: The effect; nil when the rows are the same and none of them was modified.
    /// - Throws: `ObservationError` when the query fails or takes too long.
    func advance(over range: ObservedRange, modified: Set<ObjectKey>) throws(ObservationError) -> Step? {
        if let root = source.root, range.log.isDeleted(root) {
            isGone = true
            let before = keys
            keys = []
            let changes = CollectionChanges(deletions: Array(before.indices), insertions: [], modified: [])
            return Step(changes: changes, deletedKeys: before, isEvaluated: true)
        }
        switch plan.effect(of: range.log) {
        case .none:
            return modification(modified)
        case .members:
            let candidates = plan.candidates(in: range.log)
            let count = range.to.snapshot.table(table)?.count ?? 0
            if candidates.count > 1000, candidates.count > count / RowSequence.share { return try replace(range, modified) }
            return try update(candidates, range, modified)
        case .anything: return try replace(range, modified)
        }
    }

    /// Returns the effect of a range that keeps the rows but modifies some of them; nil when none of them is a row.
    private func modification(_ modified: Set<ObjectKey>) -> Step? {
        let changes = CollectionChanges(deletions: [], insertions: [], modified: positions(of: modified))
        return changes.isEmpty ? nil : Step(changes: changes, deletedKeys: [], isEvaluated: false)
    }

    /// Returns the positions of those objects that are rows, ascending.
    private func positions(of objects: Set<ObjectKey>) -> [Int] {
        guard !objects.isEmpty, !keys.isEmpty else { return [] }
        guard plan.isInObjectOrder, objects.count < keys.count / 4 else {
            return keys.indices.filter { objects.contains(keys[$0]) }
        }
        return objects.compactMap { position(of: $0) }.sorted()
    }

    // MARK: - Rows in the order of their keys

    /// Returns the position at which a key is, or would be inserted, among rows in key order.
    private func lowerBound(_ key: ObjectKey) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the position of a key among rows in key order; nil when it is no row.
    ///
    /// - Complexity: O(log n).
    private func position(of key: ObjectKey) -> Int? {
        let index = lowerBound(key)
        return index < keys.count && keys[index] == key ? index : nil
    }

    /// Tests only the objects that were written, for rows in key order.
    ///
    /// - Parameters:
    ///   - candidates: The objects to test, ascending.
    ///   - range: The versions and the changes between them.
    /// - Returns: The effect; nil when nothing has changed.
    private func update(
        _ candidates: [ObjectKey], _ range: ObservedRange, _ modified: Set<ObjectKey>
    ) throws(ObservationError) -> Step? {
        var removed = (range.log.tables[table]?.deleted ?? []).compactMap { position(of: $0) }
        var added: [ObjectKey] = []
        if !candidates.isEmpty, let table = range.to.snapshot.table(table) {
            let bound = try plan.bind(in: range.to.snapshot)
            let finder = ObjectFinder(table)
            let check = clock.check
            for (index, key) in candidates.enumerated() {
                try evaluated(try clock.step(index))
                guard let row = try observed(try finder.find(key)) else { continue }
                let isMember = try evaluated(try bound.matches(row, check: check))
                let place = position(of: key)
                if isMember, place == nil { added.append(key) }
                if !isMember, let place { removed.append(place) }
            }
        }
        removed.sort()
        guard !removed.isEmpty || !added.isEmpty else {
            return modification(modified)
        }
        let deleted = removed.map { keys[$0] }
        let insertions = replace(removed, added)
        let changes = CollectionChanges(deletions: removed, insertions: insertions, modified: positions(of: modified))
        return Step(changes: changes, deletedKeys: deleted, isEvaluated: true)
    }

    /// Removes and inserts rows in key order.
    ///
    /// - Parameters:
    ///   - removed: The positions to remove, ascending.
    ///   - added: The keys to insert, ascending.
    /// - Returns: The positions of the inserted keys.
    private func replace(_ removed: [Int], _ added: [ObjectKey]) -> [Int] {
        if removed.isEmpty, let first = added.first, keys.last.map({ $0 < first }) ?? true {
            let start = keys.count
            keys += added
            return Array(start..<keys.count)
        }
        if removed.count + added.count <= RowSequence.fewRows { return replaceFew(removed, added) }
        var result: [ObjectKey] = []
        result.reserveCapacity(keys.count - removed.count + added.count)
        var insertions: [Int] = []
        var nextRemoved = 0
        var nextAdded = 0
        for (index, key) in keys.enumerated() {
            while nextAdded < added.count, added[nextAdded] < key {
                insertions.append(result.count)
                result.append(added[nextAdded])
                nextAdded += 1
            }
            if nextRemoved < removed.count, removed[nextRemoved] == index {
                nextRemoved += 1
            } else {
                result.append(key)
            }
        }
        insertions += Array(result.count..<(result.count + added.count - nextAdded))
        result += added[nextAdded...]
        keys = result
        return insertions
    }

    /// Replaces few rows in place: moving the rows after them is faster than copying every row.
    private func replaceFew(_ removed: [Int], _ added: [ObjectKey]) -> [Int] {
        for index in removed.reversed() { keys.remove(at: index) }
        return added.map { key in
            let index = lowerBound(key)
            keys.insert(key, at: index)
            return index
        }
    }

    // MARK: - Rows in any order

    /// Evaluates the rows again and compares them with the previous ones.
    private func replace(_ range: ObservedRange, _ modified: Set<ObjectKey>) throws(ObservationError) -> Step? {
        let before = keys
        guard let after = try plan.evaluate(in: range.to.snapshot) else { throw .notFound }
        keys = after
        let isModified: ((Int) -> Bool)? = modified.isEmpty ? nil : { modified.contains(after[$0]) }
        let changes = SequenceDiff.changes(
            from: before.map(\.rawValue), to: after.map(\.rawValue), isModified: isModified,
            canReorder: !plan.isInObjectOrder, isUnique: plan.isUnique)
        return Step(changes: changes, deletedKeys: changes.deletions.map { before[$0] }, isEvaluated: true)
    }
}
