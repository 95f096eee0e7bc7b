// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The changes of a commit range, filtered to the view of a restricted principal.
///
/// Changes of objects that are hidden before and after are left out. An object that comes into the view counts as created, one
/// that leaves it as deleted, although neither may have been written: a rule can read other objects. Objects that link to it
/// count as modified, as they do when an object is deleted. A property that was written, and whose links are hidden before and
/// after, counts as unchanged if both views show the same.
struct ScopedChanges {
    /// The view of the version before the commits.
    private let from: Snapshot
    /// The view of the version after them.
    private let to: Snapshot
    /// The changes of each commit, oldest first.
    private let changes: [[ObjectChange]]
    /// The changes of all commits together.
    private let log: RangeLog
    /// Limits the time.
    private let clock: EvaluationClock

    /// Prepares the translation.
    ///
    /// - Parameters:
    ///   - changes: The changes of each commit, oldest first.
    ///   - from: The view of the version before the commits.
    ///   - to: The view of the version after them, by the same scope.
    ///   - clock: Limits the time.
    init(_ changes: [[ObjectChange]], from: Snapshot, to: Snapshot, _ clock: EvaluationClock) {
        self.clock = clock
        self.changes = changes
        self.from = from
        self.to = to
        log = RangeLog(changes)
    }

    /// A property of an object.
    private struct Written: Hashable {
        let object: ObservedObject
        let column: ColumnKey
    }

    /// The visibility of the changes of an object.
    private enum Outcome {
        case seen
        /// The object is not seen before or not after, or neither.
        case entered, left, hidden
    }

    /// Returns the changes that are seen.
    ///
    /// - Throws: `StorageError` when objects, links or rules cannot be read, and when the time is over.
    /// - Complexity: Linear in the number of changes and of what is embedded in objects that come or go; linear in the size of a class whose rule reads other objects, when
    ///   one of their classes has changed.
    func visible() throws(StorageError) -> [[ObjectChange]] {
        var outcomes: [ObservedObject: Outcome] = [:]
        var unchanged: [Written: Bool] = [:]
        var result: [[ObjectChange]] = []
        for commit in changes {
            var visible: [ObjectChange] = []
            for (index, change) in commit.enumerated() {
                try clock.read(index)
                guard case .createdRun(let table, let first, let count) = change else {
                    if try isVisible(change, &outcomes, &unchanged) { visible.append(change) }
                    continue
                }
                for (place, key) in ObjectChange.keys(of: (first, count)).enumerated() {
                    try clock.read(place)
                    if try sees(ObservedObject(table, key), in: to) { visible.append(.created(table, key)) }
                }
            }
            result.append(visible)
        }
        try addDistant(&outcomes)
        try addEmbedded(&outcomes)
        var moves: [ObjectChange] = []
        let sorted = outcomes.sorted { ($0.key.table, $0.key.key) < ($1.key.table, $1.key.key) }
        for (index, entry) in sorted.enumerated() {
            try clock.read(index)
            let object = entry.key
            switch entry.value {
            case .entered: moves.append(.created(object.table, object.key))
            case .left: moves.append(.deleted(object.table, object.key))
            case .seen, .hidden: continue
            }
            try addOwners(of: object, &moves, &unchanged)
        }
        return moves.isEmpty ? result : result + [moves]
    }

    /// Returns whether a change is seen as it is.
    ///
    /// - Parameters:
    ///   - outcomes: The known fates of objects.
    ///   - unchanged: Which properties show the same before and after, as far as that is known.
    private func isVisible(
        _ change: ObjectChange, _ outcomes: inout [ObservedObject: Outcome], _ unchanged: inout [Written: Bool]
    ) throws(StorageError) -> Bool {
        switch change {
        case .created(let table, let key), .createdRun(let table, let key, _):
            return try sees(ObservedObject(table, key), in: to)
        case .deleted(let table, let key): return try sees(ObservedObject(table, key), in: from)
        case .modified(let table, let key, let column):
            guard to.table(table)?.column(column) != nil || from.table(table)?.column(column) != nil else {
                // The rule may read a property that is hidden.
                _ = try outcome(of: ObservedObject(table, key), &outcomes)
                return false
            }
            guard try outcome(of: ObservedObject(table, key), &outcomes) == .seen else { return false }
            return try !isUnchanged(Written(object: ObservedObject(table, key), column: column), &unchanged)
        case .collection(let table, let key, let column, _):
            guard to.table(table)?.column(column) != nil else { return false }
            guard try outcome(of: ObservedObject(table, key), &outcomes) == .seen else { return false }
            return try !isUnchanged(Written(object: ObservedObject(table, key), column: column), &unchanged)
        case .schema(let table): return to.table(table) != nil || from.table(table) != nil
        }
    }

    /// Returns whether both views show the same of a property that was written, and keeps it.
    private func isUnchanged(_ written: Written, _ unchanged: inout [Written: Bool]) throws(StorageError) -> Bool {
        if let known = unchanged[written] { return known }
        let isSame = try ShownComparison(from: from, to: to).isSame(written.column, of: written.object)
        unchanged[written] = isSame
        return isSame
    }

    /// Returns what becomes of the changes of an object that was modified, and keeps it.
    private func outcome(of object: ObservedObject, _ outcomes: inout [ObservedObject: Outcome]) throws(StorageError) -> Outcome {
        if let known = outcomes[object] { return known }
        let isNew = log.tables[object.table]?.inserted.contains(object.key) ?? false
        let after = try sees(object, in: to)
        // Of an object that was created or deleted in the range, that change says whether it is seen.
        let before = isNew ? after : try sees(object, in: from)
        let isGone = log.isDeleted(object)
        let outcome: Outcome =
            switch (before, isGone ? before : after) {
            case (true, true): .seen
            case (false, true): .entered
            case (true, false): .left
            case (false, false): .hidden
            }
        outcomes[object] = outcome
        return outcome
    }

    /// Returns whether an object is seen: it is in the view, as embedded ones are with their owners.
    private func sees(_ object: ObservedObject, in view: Snapshot) throws(StorageError) -> Bool {
        try view.table(object.table)?.find(object.key) != nil
    }

    // MARK: - Rules that read other objects

    /// Adds the objects that come into the view, or leave it, because of changes of other objects.
    private func addDistant(_ outcomes: inout [ObservedObject: Outcome]) throws(StorageError) {
        for table in to.classes {
            guard let rule = table.rule, let before = from.table(table.key), let ruleBefore = before.rule,
                reads(rule, besides: table)
            else { continue }
            let seenBefore = try keys(before, ruleBefore)
            let seenAfter = try keys(table, rule)
            let known = log.tables[table.key]
            for key in seenAfter.symmetricDifference(seenBefore) {
                if known?.inserted.contains(key) ?? false || known?.deleted.contains(key) ?? false { continue }
                outcomes[ObservedObject(table.key, key)] = seenAfter.contains(key) ? .entered : .left
            }
        }
    }

    private func reads(_ rule: ObjectRule, besides table: Table) -> Bool {
        // Embedded objects come and go with their owners.
        if rule.definition is SnapshotScope.Owner { return false }
        guard let reads = (rule.definition as? RowRule)?.reads else { return true }
        if reads.mayReachAnyTable { return true }
        let links = reads.columns.contains { column in
            column.table != table.key
                || base(of: to).table(table.key)?.columns.first { $0.leafIndex == column.leafIndex }?.type == .link
        }
        return (links || reads.tables.count > 1) && reads.tables.contains { log.tables[$0] != nil }
    }

    /// Adds the embedded objects that come into the view, or leave it, with what owns them.
    private func addEmbedded(_ outcomes: inout [ObservedObject: Outcome]) throws(StorageError) {
        var waiting = outcomes.filter { $0.value == .entered || $0.value == .left }.map(\.key)
        var count = 0
        while let owner = waiting.popLast() {
            try clock.read(count)
            count += 1
            let outcome = outcomes[owner] ?? .hidden
            let view = outcome == .entered ? to : from
            guard let table = view.table(owner.table), let row = try table.find(owner.key) else { continue }
            for column in table.columns where column.type == .link {
                guard let part = column.targetTable.flatMap({ view.table($0) }), part.kind == .embedded else { continue }
                let known = log.tables[part.key]
                for key in try row.links(column, in: view) {
                    if known?.inserted.contains(key) ?? false || known?.deleted.contains(key) ?? false { continue }
                    outcomes[ObservedObject(part.key, key)] = outcome
                    waiting.append(ObservedObject(part.key, key))
                }
            }
        }
    }

    /// Returns the objects of a class that are in a view.
    private func keys(_ table: Table, _ rule: ObjectRule) throws(StorageError) -> Set<ObjectKey> {
        var keys: Set<ObjectKey> = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            try clock.read(0)
            try rule.shown(in: leaf).forEach { keys.insert(leaf.key(at: $0)) }
        }
        return keys
    }

    // MARK: - Owners

    /// Adds the modifications of the objects that link to one that has come into the view or left it.
    private func addOwners(
        of object: ObservedObject, _ moves: inout [ObjectChange], _ unchanged: inout [Written: Bool]
    ) throws(StorageError) {
        guard let table = to.table(object.table), let row = try base(of: to).table(object.table)?.find(object.key) else { return }
        for column in table.backlinks {
            guard let origin = column.targetTable, let property = column.oppositeColumn else { continue }
            for (index, key) in try row.leaf.backlinks(column, row: row.index).keys().enumerated() where key.rawValue >= 0 {
                try clock.read(index)
                guard try sees(ObservedObject(origin, key), in: to), try sees(ObservedObject(origin, key), in: from) else {
                    continue
                }
                guard try !isUnchanged(Written(object: ObservedObject(origin, key), column: property), &unchanged) else {
                    continue
                }
                moves.append(.modified(origin, key, property))
            }
        }
    }

    /// The version that a view is made of.
    private func base(of view: Snapshot) -> Snapshot { view.scope?.base ?? view }
}
