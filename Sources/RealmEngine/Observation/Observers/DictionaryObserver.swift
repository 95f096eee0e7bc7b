// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Observes a dictionary: its entries by the operations on it, and if the values are links also the objects they lead to.
final class DictionaryObserver: TargetObserver {
    /// The property that contains the dictionary.
    private let property: ObservedProperty
    /// Decides which changes of linked objects count as modifications.
    private var filter: ObservedTarget.Filter
    /// The class of the linked objects; nil for other values.
    private let target: TableKey?
    /// Whether values may be links, which are null for listeners without rights to their targets.
    private let mayHide: Bool
    /// Limits the time of each evaluation.
    private let clock: EvaluationClock
    /// The number of entries in the version that the observer is at.
    private var count = 0
    /// Whether the object that has the dictionary was deleted.
    private(set) var isGone = false

    /// Starts to observe a dictionary at the version of `snapshot`; throws `notFound` when its object does not exist.
    init(
        _ property: ObservedProperty, _ filter: ObservedTarget.Filter, _ clock: EvaluationClock, at snapshot: Snapshot
    ) throws(ObservationError) {
        self.property = property
        self.filter = filter
        self.clock = clock
        let column = try property.column(in: snapshot)
        target = column.type == .link ? column.targetTable : nil
        mayHide = column.type == .link || column.type == .mixed
        try restart(at: snapshot)
        if isGone { throw .notFound }
    }

    /// The number of entries, or the state of a deleted collection.
    var contents: ObservedContents { isGone ? .gone : .dictionary(count: count) }

    /// Reads the dictionary of a version again, after a range whose changes are unknown.
    func restart(at snapshot: Snapshot) throws(ObservationError) {
        guard let entries = try observed(try entries(in: snapshot)) else {
            isGone = true
            count = 0
            return
        }
        count = entries.count
    }

    /// Returns the entries in a version; nil when the object does not exist in it.
    private func entries(in snapshot: Snapshot) throws(StorageError) -> DictionaryView? {
        guard let (row, column) = try property.owner(in: snapshot) else { return nil }
        return try row.dictionary(column, in: snapshot)
    }

    /// Takes over the resolved filter; the dictionary itself is not affected by additions to the schema.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) { self.filter = filter }

    /// The changes of the object that has the dictionary, and of the objects that it links to.
    var interest: TargetInterest {
        guard let target else { return .object(property.object, .shallow) }
        return .rows(RowInterest(table: target, root: property.object, filter: filter))
    }

    /// Returns whether the dictionary was written, its object deleted, or linked objects may be modified.
    func mayChange(over range: ObservedRange) -> Bool {
        range.log.isDeleted(property.object) || range.log.isWritten(property)
            || target.map { range.mayModify($0, filter) } ?? false
    }

    /// Returns the changed keys over a range.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        if range.log.isDeleted(property.object) { return try deletion(range) }
        if range.log.hasReturned(property.object) { return try changeOfReturned(range) }
        return try observed(try change(range))
    }

    /// Notes that the object was deleted, and returns the change with the keys of the old version.
    private func deletion(_ range: ObservedRange) throws(ObservationError) -> ObservedChange {
        isGone = true
        count = 0
        var keys: [DictionaryKey] = []
        if let old = try observed(try entries(in: range.from.snapshot)) { keys = try self.keys(of: old) }
        return .dictionary(
            DictionaryChange(
                deleted: keys, inserted: [], modified: [], insertedPlaces: [], modifiedPlaces: [],
                isCleared: range.log.isCleared(property), isRootDeleted: true, count: 0))
    }

    /// Computes the change over a range from the recorded operations; deleted keys are read from the old version.
    private func change(_ range: ObservedRange) throws(StorageError) -> ObservedChange? {
        let modified = try target.map { (target) throws(StorageError) in try range.modified(in: target, filter) } ?? []
        guard range.log.isWritten(property) || !modified.isEmpty, let new = try entries(in: range.to.snapshot) else {
            return nil
        }
        var log = range.log.operations(on: property)
        if !modified.isEmpty { try mark(modified, in: new, &log) }
        if mayHide, range.to.snapshot.scope != nil, let old = try entries(in: range.from.snapshot) {
            try markTurned(from: old, to: new, &log)
        }
        let changes = log.changes()
        let oldCount = count
        count = new.count
        guard changes.fits(before: oldCount, after: count) else { return .unknown }
        return changes.isEmpty ? nil : .dictionary(try change(changes, new, range))
    }

    /// Computes the change of a dictionary whose object has left the view of the listeners and come back: by its keys, as the
    /// operations are not known. Entries that are there before and after count as modified.
    private func changeOfReturned(_ range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        guard let old = try observed(try entries(in: range.from.snapshot)),
            let new = try observed(try entries(in: range.to.snapshot))
        else { return .unknown }
        let oldKeys = try keys(of: old)
        let newKeys = try keys(of: new)
        let (before, after) = (Set(oldKeys), Set(newKeys))
        count = new.count
        let changes = CollectionChanges(
            deletions: oldKeys.indices.filter { !after.contains(oldKeys[$0]) },
            insertions: newKeys.indices.filter { !before.contains(newKeys[$0]) }, modified: Array(newKeys.indices))
        guard !changes.isEmpty else { return nil }
        return .dictionary(
            DictionaryChange(
                deleted: changes.deletions.map { oldKeys[$0] }, inserted: changes.insertions.map { newKeys[$0] },
                modified: changes.modificationsNew.map { newKeys[$0] }, insertedPlaces: changes.insertions,
                modifiedPlaces: changes.modificationsNew, isCleared: false, isRootDeleted: false, count: count))
    }

    /// Adds a modification for each entry whose linked object was modified.
    private func mark(
        _ modified: Set<ObjectKey>, in entries: DictionaryView, _ log: inout ListChangeLog
    ) throws(StorageError) {
        var cursor = entries.entries()
        var index = 0
        while let entry = try cursor.next() {
            try clock.read(index)
            if case .link(_, let key) = entry.value, modified.contains(key) { log.modify(at: index) }
            index += 1
        }
    }

    /// Adds a modification for each entry that is null before or after, as its object has come into the view of the listeners
    /// or left it.
    private func markTurned(
        from old: DictionaryView, to new: DictionaryView, _ log: inout ListChangeLog
    ) throws(StorageError) {
        var before: [DictionaryKey: Bool] = [:]
        before.reserveCapacity(old.count)
        var cursor = old.entries()
        var index = 0
        while let entry = try cursor.next() {
            try clock.read(index)
            before[entry.key] = entry.value.isNull
            index += 1
        }
        cursor = new.entries()
        index = 0
        while let entry = try cursor.next() {
            try clock.read(index)
            if let wasNull = before[entry.key], wasNull != entry.value.isNull { log.modify(at: index) }
            index += 1
        }
    }

    /// Returns all keys of a dictionary in their stored order.
    private func keys(of entries: DictionaryView) throws(ObservationError) -> [DictionaryKey] {
        var keys: [DictionaryKey] = []
        keys.reserveCapacity(entries.count)
        var cursor = entries.entries()
        while let entry = try observed(try cursor.next()) {
            try evaluated(try clock.step(keys.count))
            keys.append(entry.key)
        }
        return keys
    }

    /// Makes the change with the keys of changed entries, from their positions in the old and the new version.
    private func change(
        _ changes: CollectionChanges, _ new: DictionaryView, _ range: ObservedRange
    ) throws(StorageError) -> DictionaryChange {
        var deleted: [DictionaryKey] = []
        var inserted: [DictionaryKey] = []
        var modified: [DictionaryKey] = []
        if !changes.deletions.isEmpty, let old = try entries(in: range.from.snapshot) {
            for index in changes.deletions { deleted.append(try old.key(at: index)) }
        }
        for index in changes.insertions { inserted.append(try new.key(at: index)) }
        for index in changes.modificationsNew { modified.append(try new.key(at: index)) }
        return DictionaryChange(
            deleted: deleted, inserted: inserted, modified: modified, insertedPlaces: changes.insertions,
            modifiedPlaces: changes.modificationsNew, isCleared: changes.isCleared, isRootDeleted: false, count: count)
    }
}
