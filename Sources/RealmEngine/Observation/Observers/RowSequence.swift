// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// The rows of a target, kept as the sequence of their keys.
///
/// How a range is dealt with, cheapest first:
/// - What was written cannot concern the rows: nothing is looked at.
/// - Only members may have changed, and few objects were written: each of them is tested by itself.
/// - Everything else: the query runs again, and the two sequences are compared.
final class RowSequence {
    /// What a range did to the rows.
    struct Step {
        /// The difference.
        let changes: CollectionChanges
        /// One for each deletion.
        let deletedKeys: [ObjectKey]
        /// Whether the rows were looked up again; if not, the same objects are in the same order.
        let isEvaluated: Bool
    }

    /// What the rows come from.
    private let source: RowSource
    /// Their selection and order.
    private let query: ObservedQuery
    /// Names of linking objects, for the query.
    private let names: BacklinkNames
    /// Bounds each evaluation.
    private let clock: EvaluationClock
    /// How the rows are found in the version that they are of.
    private(set) var plan: RowPlan
    /// The rows, in order.
    private(set) var keys: [ObjectKey] = []
    /// Whether what the rows come from was deleted: there are none any more.
    private(set) var isGone = false

    /// More objects than this part of the class are looked at one by one only if they are few.
    private static let share = 8
    /// So few rows are replaced one by one.
    private static let fewRows = 8

    /// Evaluates the rows of a version; throws `notFound` when there is nothing that they come from.
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

    /// The class of the rows.
    var table: TableKey { plan.table }

    /// Evaluates the rows again, whatever happened since.
    func restart(at snapshot: Snapshot) throws(ObservationError) {
        plan = try RowPlan(source, query, names: names, clock: clock, at: snapshot)
        guard let keys = try plan.evaluate(in: snapshot) else {
            isGone = true
            self.keys = []
            return
        }
        self.keys = keys
    }

    /// After classes or properties were added.
    func adapt(to snapshot: Snapshot) throws(ObservationError) {
        plan = try RowPlan(source, query, names: names, clock: clock, at: snapshot)
    }

    /// Whether a range may change which rows there are, their order, or one of them.
    func mayChange(over range: ObservedRange, _ filter: ObservedTarget.Filter) -> Bool {
        if let root = source.root, range.log.isDeleted(root) { return true }
        if case .none = plan.effect(of: range.log) { return range.mayModify(table, filter) }
        return true
    }

    /// Nil when the rows are the same and none of them is modified.
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

    /// The same rows, some of them modified.
    private func modification(_ modified: Set<ObjectKey>) -> Step? {
        let changes = CollectionChanges(deletions: [], insertions: [], modified: positions(of: modified))
        return changes.isEmpty ? nil : Step(changes: changes, deletedKeys: [], isEvaluated: false)
    }

    /// Positions of those of the objects that are rows.
    private func positions(of objects: Set<ObjectKey>) -> [Int] {
        guard !objects.isEmpty, !keys.isEmpty else { return [] }
        guard plan.isInObjectOrder, objects.count < keys.count / 4 else {
            return keys.indices.filter { objects.contains(keys[$0]) }
        }
        return objects.compactMap { position(of: $0) }.sorted()
    }

    // MARK: - Rows in the order of their keys

    /// Where a key is, or would be, among rows in the order of keys.
    private func lowerBound(_ key: ObjectKey) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Where a key is among rows in the order of keys, or nil.
    private func position(of key: ObjectKey) -> Int? {
        let index = lowerBound(key)
        return index < keys.count && keys[index] == key ? index : nil
    }

    /// Asks only about the objects that were changed.
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

    /// Takes rows out and puts keys in, both in ascending order. Returns where those are then.
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

    /// In place: moving the rows after it is quicker than looking at every row.
    private func replaceFew(_ removed: [Int], _ added: [ObjectKey]) -> [Int] {
        for index in removed.reversed() { keys.remove(at: index) }
        return added.map { key in
            let index = lowerBound(key)
            keys.insert(key, at: index)
            return index
        }
    }

    // MARK: - Rows in any order

    /// Evaluates the rows and compares them with those before.
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
