// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Observes a list or set: its elements by the operations on it, and if they are links also the objects they lead to.
final class ListObserver: TargetObserver {
    /// The property that contains the list or set.
    private let property: ObservedProperty
    /// Decides which changes of linked objects count as modifications.
    private var filter: ObservedTarget.Filter
    /// The class of the linked objects; nil for other elements.
    private var target: TableKey?
    /// The number of elements in the version that the observer is at.
    private var count = 0
    /// The keys of the linked objects in their order; empty for other elements.
    private var keys: [ObjectKey] = []
    var byteCount: Int { keys.capacity * MemoryLayout<ObjectKey>.stride }
    /// Whether the object that has the list or set was deleted.
    private(set) var isGone = false

    /// Starts to observe a list or set at the version of `snapshot`; throws `notFound` when its object does not exist.
    init(_ property: ObservedProperty, _ filter: ObservedTarget.Filter, at snapshot: Snapshot) throws(ObservationError) {
        self.property = property
        self.filter = filter
        let column = try property.column(in: snapshot)
        target = column.type == .link ? column.targetTable : nil
        try restart(at: snapshot)
        if isGone { throw .notFound }
    }

    /// The keys of the linked objects, or the number of values.
    var contents: ObservedContents {
        if isGone { return .gone }
        guard let target else { return .values(count: count, places: nil) }
        return .rows(target, keys)
    }

    /// Reads the list or set of a version again, after a range whose changes are unknown.
    func restart(at snapshot: Snapshot) throws(ObservationError) {
        guard let (row, column) = try observed(try property.owner(in: snapshot)) else {
            isGone = true
            return
        }
        try observed(try read(row, column, snapshot))
    }

    /// Reads the number of elements, and the keys of linked objects.
    private func read(_ row: Row, _ column: Column, _ snapshot: Snapshot) throws(StorageError) {
        if target != nil {
            keys = try row.links(column, in: snapshot)
            count = keys.count
        } else {
            count = try row.list(column, in: snapshot).count
        }
    }

    /// Takes over the resolved filter; the list itself is not affected by additions to the schema.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) { self.filter = filter }

    /// The changes of the object that has the list, and of the objects that it links to.
    var interest: TargetInterest {
        guard let target else { return .object(property.object, .shallow) }
        return .rows(RowInterest(table: target, root: property.object, filter: filter))
    }

    /// Returns whether the list was written, its object deleted, or linked objects may be modified.
    func mayChange(over range: ObservedRange) -> Bool {
        range.log.isDeleted(property.object) || range.log.isWritten(property)
            || target.map { range.mayModify($0, filter) } ?? false
    }

    /// Returns the changed positions over a range; `unknown` when the operations do not fit the number of elements.
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
        let changes = try changes((before, oldCount), modified, range)
        guard changes.fits(before: oldCount, after: count) else { return .unknown }
        return changes.isEmpty ? nil : change(changes, before, range)
    }

    /// Computes the change of positions from the recorded operations. Where they are lacking, or also count links that are never
    /// shown, keys are compared; values have none, so all of them are replaced.
    ///
    /// - Parameters:
    ///   - before: The keys of linked objects and the number of elements before the change.
    ///   - modified: The linked objects that count as modified.
    ///   - range: The versions and the changes between them.
    private func changes(
        _ before: (keys: [ObjectKey], count: Int), _ modified: Set<ObjectKey>, _ range: ObservedRange
    ) throws(ObservationError) -> CollectionChanges {
        let hasReturned = range.log.hasReturned(property.object)
        if let target, hasReturned || range.from.snapshot.hasTombstones(target) || range.to.snapshot.hasTombstones(target) {
            let keys = keys
            return SequenceDiff.changes(
                from: before.keys.map(\.rawValue), to: keys.map(\.rawValue), isModified: { modified.contains(keys[$0]) },
                canReorder: true)
        }
        let mayCountHidden = try mayCountHidden(range.to.snapshot)
        if hasReturned || mayCountHidden { return .replacement(of: before.count, with: count) }
        var log = range.log.operations(on: property)
        if !modified.isEmpty {
            for (index, key) in keys.enumerated() where modified.contains(key) { log.modify(at: index) }
        }
        return log.changes()
    }

    /// Whether the recorded operations may count links that the listeners do not see: those among mixed values.
    private func mayCountHidden(_ snapshot: Snapshot) throws(ObservationError) -> Bool {
        guard target == nil, snapshot.scope != nil else { return false }
        return try property.column(in: snapshot).type == .mixed
    }

    /// Makes the event of a change, with keys for objects and with positions for values.
    ///
    /// - Parameters:
    ///   - changes: The change of positions.
    ///   - range: The versions and the changes between them.
    private func change(_ changes: CollectionChanges, _ before: [ObjectKey], _ range: ObservedRange) -> ObservedChange {
        guard let target else {
            return .values(
                ObservedChange.Values(
                    changes: changes, insertedPlaces: changes.insertions, modifiedPlaces: changes.modificationsNew, count: count))
        }
        return .rows(
            RowsChange(
                changes, deleted: changes.deletions.map { before[$0] }, after: keys, table: target, range))
    }
}

extension RowsChange {
    /// Makes the change of rows with the keys of deleted, inserted, modified and moved objects.
    ///
    /// - Parameters:
    ///   - changes: The change of positions.
    ///   - range: The range, from which the written properties are taken.
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
