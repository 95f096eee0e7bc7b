// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Follows a list or set by the operations on it; of objects also what happens to those.
final class ListObserver: TargetObserver {
    /// The property that is observed.
    private let property: ObservedProperty
    /// Which changes of elements count.
    private var filter: ObservedTarget.Filter
    /// The class of the elements, if they are objects.
    private var target: TableKey?
    /// How many elements it has.
    private var count = 0
    /// The keys of the elements, if they are objects.
    private var keys: [ObjectKey] = []
    /// Whether the object that has the list or set was deleted.
    private(set) var isGone = false

    /// Follows a list or set from the version of `snapshot` on; throws `notFound` when it is not there.
    init(_ property: ObservedProperty, _ filter: ObservedTarget.Filter, at snapshot: Snapshot) throws(ObservationError) {
        self.property = property
        self.filter = filter
        let column = try property.column(in: snapshot)
        target = column.type == .link ? column.targetTable : nil
        try restart(at: snapshot)
        if isGone { throw .notFound }
    }

    var contents: ObservedContents {
        if isGone { return .gone }
        guard let target else { return .values(count: count, places: nil) }
        return .rows(target, keys)
    }

    func restart(at snapshot: Snapshot) throws(ObservationError) {
        guard let (row, column) = try observed(try property.owner(in: snapshot)) else {
            isGone = true
            return
        }
        try observed(try read(row, column, snapshot))
    }

    /// Reads how many elements there are, and which objects those of links are.
    private func read(_ row: Row, _ column: Column, _ snapshot: Snapshot) throws(StorageError) {
        if target != nil {
            keys = try row.links(column, in: snapshot)
            count = keys.count
        } else {
            count = try row.list(column, in: snapshot).count
        }
    }

    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) { self.filter = filter }

    func mayChange(over range: ObservedRange) -> Bool {
        range.log.isDeleted(property.object) || range.log.isWritten(property)
            || target.map { range.mayModify($0, filter) } ?? false
    }

    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        if range.log.isDeleted(property.object) {
            isGone = true
            var changes = CollectionChanges.rootDeleted(count: count)
            changes.isCleared = range.log.isCleared(property)
            let before = keys
            (keys, count) = ([], 0)
            return change(changes, before, range)
        }
        let before = keys
        let oldCount = count
        var modified: Set<ObjectKey> = []
        if let target { modified = try observed(try range.modified(in: target, filter)) }
        let isWritten = range.log.isWritten(property)
        guard isWritten || !modified.isEmpty else { return nil }
        if isWritten { try restart(at: range.to.snapshot) }
        let changes = changes(before, modified, range)
        guard changes.fits(before: oldCount, after: count) else { return .unknown }
        return changes.isEmpty ? nil : change(changes, before, range)
    }

    /// The difference of positions: from the operations, or by comparison where operations count links that are not shown.
    private func changes(_ before: [ObjectKey], _ modified: Set<ObjectKey>, _ range: ObservedRange) -> CollectionChanges {
        if let target,
            range.from.snapshot.table(target)?.hasTombstones == true || range.to.snapshot.table(target)?.hasTombstones == true
        {
            // Operations count links to nothing, which are never shown.
            let keys = keys
            return SequenceDiff.changes(
                from: before.map(\.rawValue), to: keys.map(\.rawValue), isModified: { modified.contains(keys[$0]) },
                canReorder: true)
        }
        var log = range.log.operations(on: property)
        if !modified.isEmpty {
            for (index, key) in keys.enumerated() where modified.contains(key) { log.modify(at: index) }
        }
        return log.changes()
    }

    /// The event for a difference, with keys for objects and places for values.
    private func change(_ changes: CollectionChanges, _ before: [ObjectKey], _ range: ObservedRange) -> ObservedChange {
        guard let target else {
            return .values(
                ValuesChange(
                    changes: changes, insertedPlaces: changes.insertions, modifiedPlaces: changes.modificationsNew, count: count))
        }
        return .rows(
            RowsChange(
                changes, deleted: changes.deletions.map { before[$0] }, after: keys, table: target, range))
    }
}

extension RowsChange {
    /// Follows a list or set from the version of `snapshot` on; throws `notFound` when it is not there.
    init(
        _ changes: CollectionChanges, deleted: [ObjectKey], after: [ObjectKey], table: TableKey, _ range: ObservedRange
    ) {
        let modified = changes.modificationsNew.map { after[$0] }
        self.init(
            table: table, changes: changes, deletedKeys: deleted,
            insertedKeys: changes.insertions.map { after[$0] }, modifiedKeys: modified,
            modifiedColumns: range.writtenColumns(of: modified, in: table), moveKeys: changes.moves.map { after[$0.to] },
            count: after.count)
    }
}
