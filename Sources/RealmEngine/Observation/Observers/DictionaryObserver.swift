// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Follows a dictionary by the operations on it; of objects also what happens to those.
final class DictionaryObserver: TargetObserver {
    /// The property that is observed.
    private let property: ObservedProperty
    /// Which changes of elements count.
    private var filter: ObservedTarget.Filter
    /// The class of the values, if they are objects.
    private let target: TableKey?
    /// How many elements it has.
    private var count = 0
    /// Whether the object that has the dictionary was deleted.
    private(set) var isGone = false

    /// Follows a dictionary from the version of `snapshot` on; throws `notFound` when it is not there.
    init(_ property: ObservedProperty, _ filter: ObservedTarget.Filter, at snapshot: Snapshot) throws(ObservationError) {
        self.property = property
        self.filter = filter
        let column = try property.column(in: snapshot)
        target = column.type == .link ? column.targetTable : nil
        try restart(at: snapshot)
        if isGone { throw .notFound }
    }

    var contents: ObservedContents { isGone ? .gone : .dictionary(count: count) }

    func restart(at snapshot: Snapshot) throws(ObservationError) {
        guard let entries = try observed(try entries(in: snapshot)) else {
            isGone = true
            count = 0
            return
        }
        count = entries.count
    }

    /// The entries in a version; nil when the object is gone.
    private func entries(in snapshot: Snapshot) throws(StorageError) -> DictionaryView? {
        guard let (row, column) = try property.owner(in: snapshot) else { return nil }
        return try row.dictionary(column, in: snapshot)
    }

    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) { self.filter = filter }

    func mayChange(over range: ObservedRange) -> Bool {
        range.log.isDeleted(property.object) || range.log.isWritten(property)
            || target.map { range.mayModify($0, filter) } ?? false
    }

    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        try observed(try change(range))
    }

    /// The difference that a range makes, old entries compared with new ones.
    private func change(_ range: ObservedRange) throws(StorageError) -> ObservedChange? {
        if range.log.isDeleted(property.object) {
            isGone = true
            let keys = try entries(in: range.from.snapshot).map(DictionaryObserver.keys) ?? []
            count = 0
            return .dictionary(
                DictionaryChange(
                    deleted: keys, inserted: [], modified: [], insertedPlaces: [], modifiedPlaces: [],
                    isCleared: range.log.isCleared(property), isRootDeleted: true, count: 0))
        }
        let modified = try target.map { (target) throws(StorageError) in try range.modified(in: target, filter) } ?? []
        guard range.log.isWritten(property) || !modified.isEmpty, let new = try entries(in: range.to.snapshot) else {
            return nil
        }
        var log = range.log.operations(on: property)
        if !modified.isEmpty { try DictionaryObserver.mark(modified, in: new, &log) }
        let changes = log.changes()
        let oldCount = count
        count = new.count
        guard changes.fits(before: oldCount, after: count) else { return .unknown }
        return changes.isEmpty ? nil : .dictionary(try change(changes, new, range))
    }

    private static func mark(
        _ modified: Set<ObjectKey>, in entries: DictionaryView, _ log: inout ListChangeLog
    ) throws(StorageError) {
        var cursor = entries.entries()
        var index = 0
        while let entry = try cursor.next() {
            if case .link(_, let key) = entry.value, modified.contains(key) { log.modify(at: index) }
            index += 1
        }
    }

    /// All keys, in order.
    private static func keys(_ entries: DictionaryView) throws(StorageError) -> [DictionaryKey] {
        var keys: [DictionaryKey] = []
        for index in 0..<entries.count { keys.append(try entries.key(at: index)) }
        return keys
    }

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
