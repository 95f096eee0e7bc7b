// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Finds the objects for which a key path leads to a change.
///
/// A chain is evaluated from its end: what has changed at a step makes all objects count as changed from which the steps before
/// lead there. A property has changed where it was written; linking objects have changed where one was added or lost. If the
/// path continues after linking objects, an existing object that newly links does not count as a change.
struct ChainHits {
    /// The range of versions in which objects were written.
    private let range: ObservedRange
    /// The results of steps so far, which all chains share.
    private let steps: StepHits

    /// Prepares the evaluation of chains over `range`.
    init(_ range: ObservedRange, _ steps: StepHits) {
        self.range = range
        self.steps = steps
    }

    /// Returns the objects at the start of a chain that count as changed, without those that were
    /// inserted in the range, by their number in `steps`.
    ///
    /// - Parameter chain: The steps of a key path, with at least one step.
    /// - Throws: `StorageError` when objects or links cannot be read, or not in time.
    func objects(_ chain: [KeyPathFilter.Step]) throws(StorageError) -> Int {
        var behind = StepHits.nothing
        for (place, step) in chain.enumerated().reversed() {
            behind = try follow(step, behind, isEnd: place == chain.count - 1)
        }
        guard behind != StepHits.nothing, let table = chain.first?.table, let log = range.log.tables[table],
            !log.inserted.isEmpty
        else { return behind }
        return try steps.result(of: .start(table, behind)) { objects throws(StorageError) in objects.subtracting(log.inserted) }
    }

    /// Returns the number of the objects at which a step starts that counts as changed.
    ///
    /// - Parameters:
    ///   - behind: The number of the objects behind it that count as changed.
    ///   - isEnd: Whether the step is the last one of its chain.
    private func follow(_ step: KeyPathFilter.Step, _ behind: Int, isEnd: Bool) throws(StorageError) -> Int {
        switch step {
        case .property(let table, let column):
            return try steps.result(of: .step(step, behind, isEnd: false)) { objects throws(StorageError) in
                try hits(table, column, objects)
            }
        case .linkingObjects(_, let origin, let column):
            return try steps.result(of: .step(step, behind, isEnd: isEnd)) { objects throws(StorageError) in
                try targets(origin, column, objects, isEnd: isEnd)
            }
        }
    }

    /// Returns the objects of a class whose property was written or leads to an object in `behind`.
    private func hits(
        _ table: TableKey, _ column: ColumnKey, _ behind: Set<ObjectKey>
    ) throws(StorageError) -> Set<ObjectKey> {
        var result: Set<ObjectKey> = []
        var count = 0
        try range.clock.read(0)
        if let log = range.log.tables[table], log.columns.contains(column) {
            for (object, bits) in log.modified {
                try range.clock.read(count)
                count += 1
                if bits.contains(column) { result.insert(object) }
            }
        }
        guard !behind.isEmpty, let property = range.to.snapshot.table(table)?.column(column),
            let target = property.targetTable.flatMap({ range.to.snapshot.table($0) }),
            let records = target.backlinks.first(where: {
                $0.targetTable == table && $0.oppositeColumn?.leafIndex == column.leafIndex
            })
        else { return result }
        let finder = ObjectFinder(target)
        for object in behind.sorted() {
            try range.clock.read(count)
            count += 1
            guard let row = try finder.find(object) else { continue }
            for origin in try row.leaf.backlinks(records, row: row.index).keys() {
                try range.clock.read(count)
                count += 1
                result.insert(origin)
            }
        }
        return result
    }

    /// Returns the objects whose linking objects have changed.
    ///
    /// These are the targets of new objects, of deleted ones, and of those in `behind`. At the end of a
    /// chain also the targets, before and after, of objects whose property was written; in the middle of
    /// a chain only those that such objects do not link to any more.
    ///
    /// - Parameters:
    ///   - origin: The class of the linking objects.
    ///   - column: The property that has the links.
    ///   - behind: The linking objects that count as changed.
    ///   - isEnd: Whether the step is the last one of its chain.
    private func targets(
        _ origin: TableKey, _ column: ColumnKey, _ behind: Set<ObjectKey>, isEnd: Bool
    ) throws(StorageError) -> Set<ObjectKey> {
        let log = range.log.tables[origin]
        let written = (log?.modified ?? [:]).filter { $0.value.contains(column) }.map(\.key).sorted()
        let now = behind.union(log?.inserted ?? []).union(isEnd ? written : [])
        var result = Set(try targets(of: now.sorted(), origin, column, in: range.to.snapshot).joined())
        result.formUnion(try targets(of: (log?.deleted ?? []).sorted(), origin, column, in: range.from.snapshot).joined())
        let before = try targets(of: written, origin, column, in: range.from.snapshot)
        let after = isEnd ? [] : try targets(of: written, origin, column, in: range.to.snapshot)
        for (index, targets) in before.enumerated() {
            result.formUnion(isEnd ? targets : targets.subtracting(after[index]))
        }
        return result
    }

    /// Returns for each object the objects it links to; an empty set if it does not exist.
    private func targets(
        of objects: [ObjectKey], _ origin: TableKey, _ column: ColumnKey, in snapshot: Snapshot
    ) throws(StorageError) -> [Set<ObjectKey>] {
        var result = [Set<ObjectKey>](repeating: [], count: objects.count)
        guard !objects.isEmpty, let table = snapshot.table(origin), let property = table.column(column) else { return result }
        let finder = ObjectFinder(table)
        for (index, object) in objects.enumerated() {
            if let row = try finder.find(object) { result[index] = Set(try row.links(property, in: snapshot)) }
            // An object with many links counts like many objects.
            try range.clock.read(result[index].count > 0xff ? 0 : index)
        }
        return result
    }
}

extension Row {
    /// Returns the objects that a property with links refers to, without null and unresolved links.
    ///
    /// - Parameters:
    ///   - column: A link property, single or a collection.
    ///   - snapshot: The version that this row belongs to.
    func links(_ column: Column, in snapshot: Snapshot) throws(StorageError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        switch column.collection {
        case nil:
            if case .link(_, let key) = try value(column) { keys.append(key) }
        case .list, .set:
            var elements = try list(column, in: snapshot).elements()
            while let value = try elements.next() {
                if case .link(_, let key) = value { keys.append(key) }
            }
        case .dictionary:
            var entries = try dictionary(column, in: snapshot).entries()
            while let entry = try entries.next() {
                if case .link(_, let key) = entry.value { keys.append(key) }
            }
        }
        return keys
    }
}
