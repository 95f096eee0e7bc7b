// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// Finds the objects for which a key path leads to a change.
///
/// A chain is walked from its end: what is changed at a step makes all objects changed from which the steps before lead
/// there. A property is changed where it was written; linking objects are where one came or was lost. A path that goes on
/// after linking objects is not changed by one that was there before and links to the object now.
struct ChainHits {
    /// What was written.
    private let range: ObservedRange

    /// Looks at what was written in `range`.
    init(_ range: ObservedRange) { self.range = range }

    /// Objects of the class where the chain begins; new ones are not among them.
    func objects(_ chain: [KeyPathStep]) throws(StorageError) -> Set<ObjectKey> {
        var behind: Set<ObjectKey> = []
        for (place, step) in chain.enumerated().reversed() {
            switch step {
            case .property(let table, let column): behind = try hits(table, column, behind)
            case .linkingObjects(_, let origin, let column):
                behind = try targets(origin, column, behind, isEnd: place == chain.count - 1)
            }
        }
        if let table = chain.first?.table, let inserted = range.log.tables[table]?.inserted, !behind.isEmpty {
            behind.subtract(inserted)
        }
        return behind
    }

    /// Objects of a class whose property was written or leads to an object in `behind`.
    private func hits(
        _ table: TableKey, _ column: ColumnKey, _ behind: Set<ObjectKey>
    ) throws(StorageError) -> Set<ObjectKey> {
        var result: Set<ObjectKey> = []
        if let log = range.log.tables[table], log.columns.contains(column) {
            for (object, bits) in log.modified where bits.contains(column) { result.insert(object) }
        }
        guard !behind.isEmpty, let property = range.to.snapshot.table(table)?.column(column),
            let target = property.targetTable.flatMap({ range.to.snapshot.table($0) }),
            let records = target.backlinks.first(where: {
                $0.targetTable == table && $0.oppositeColumn?.leafIndex == column.leafIndex
            })
        else { return result }
        let finder = ObjectFinder(target)
        for object in behind.sorted() {
            guard let row = try finder.find(object) else { continue }
            for origin in try row.leaf.backlinks(records, row: row.index).keys() { result.insert(origin) }
        }
        return result
    }

    /// What the objects in `behind` and new ones link to, and what those link or linked to that changed the property; if the
    /// chain goes on after them, only what they no longer link to.
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

    /// What each of the objects links to; nothing if it is not there.
    private func targets(
        of objects: [ObjectKey], _ origin: TableKey, _ column: ColumnKey, in snapshot: Snapshot
    ) throws(StorageError) -> [Set<ObjectKey>] {
        var result = [Set<ObjectKey>](repeating: [], count: objects.count)
        guard !objects.isEmpty, let table = snapshot.table(origin), let property = table.column(column) else { return result }
        let finder = ObjectFinder(table)
        for (index, object) in objects.enumerated() {
            if let row = try finder.find(object) { result[index] = Set(try row.links(property, in: snapshot)) }
        }
        return result
    }
}

extension Row {
    /// The objects that a property of links leads to, without those that are not there.
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
