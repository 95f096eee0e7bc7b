// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Finds the observations about the objects of one class that a range may concern.
///
/// Each changed object is read once in the version before and once in the version after, as far as its values matter. Where
/// something cannot be read, or not in time, all observations of the class count as concerned; they find the error then.
struct TargetSearch {
    private let table: TableKey
    /// The entries of the class.
    private let targets: ClassTargets
    /// The versions and the changes between them.
    private let range: ObservedRange
    /// Limits the time of the search.
    private let clock: EvaluationClock
    private let found: TargetIndex.Found

    /// The number of changed objects for each entry, and in any case, up to which they are read one by one.
    private static let (objectsPerEntry, fewObjects) = (64, 1000)

    /// Prepares the search.
    ///
    /// - Parameters:
    ///   - targets: The entries of the class.
    ///   - range: The versions and the changes between them.
    ///   - clock: Limits the time of the search.
    ///   - found: Receives the observations.
    init(
        of table: TableKey, _ targets: ClassTargets, over range: ObservedRange, clock: EvaluationClock,
        adding found: TargetIndex.Found
    ) {
        self.table = table
        self.targets = targets
        self.range = range
        self.clock = clock
        self.found = found
    }

    /// Finds the observations.
    func run() {
        let log = range.log.tables[table]
        if let log {
            for (changes, list) in targets.changes where changes.occur(in: log) { add(list) }
        }
        do throws(StorageError) {
            let distant = try modified()
            guard targets.filedCount > 0, log?.isEmpty == false || !distant.isEmpty else { return }
            try read(log, distant)
        } catch {
            targets.forEach(found.add)
        }
    }

    /// Adds all observations of a list.
    private func add(_ list: TargetList) { for entry in list.entries { found.add(entry) } }

    /// Adds the observations that any modified object concerns.
    ///
    /// All observations of a filter share one search, which has the time of one evaluation.
    ///
    /// - Returns: The objects that may be modified rows of other observations.
    private func modified() throws(StorageError) -> Set<ObjectKey> {
        var modified: Set<ObjectKey> = []
        if targets.reachingCount > 0 || !targets.reached.isEmpty, range.mayModify(table, .all) {
            clock.start()
            let affected = try range.affected(in: table)
            if !affected.isEmpty { add(targets.reached) }
            if targets.reachingCount > 0 { modified = affected }
        }
        for group in targets.paths.values where range.mayModify(table, group.filter) {
            clock.start()
            let hits = try range.modified(in: table, group.filter)
            if !hits.isEmpty { add(group.list) }
            if group.filedCount > 0 { modified.formUnion(hits) }
        }
        return modified
    }

    // MARK: - Objects

    /// Reads changed objects, and adds the observations that they concern.
    ///
    /// - Parameters:
    ///   - log: The changes of the class; nil for none.
    ///   - distant: Objects that may count as modified, whether they were written or not.
    private func read(_ log: RangeLog.TableLog?, _ distant: Set<ObjectKey>) throws(StorageError) {
        let written = log.map { $0.inserted.count + $0.deleted.count + $0.modified.count } ?? 0
        if written + distant.count > TargetSearch.fewObjects + targets.filedCount * TargetSearch.objectsPerEntry {
            return targets.forEachFiled(found.add)
        }
        var keys = distant
        if let log {
            keys.formUnion(log.inserted)
            keys.formUnion(log.deleted)
            keys.formUnion(log.modified.keys)
        }
        if !targets.objects.isEmpty { for key in keys { if let list = targets.objects[key] { add(list) } } }
        guard !targets.properties.isEmpty else { return }
        let after = ValueSearch(of: table, targets, in: range.to.snapshot, adding: found)
        let before = ValueSearch(of: table, targets, in: range.from.snapshot, adding: found)
        for (index, key) in keys.sorted().enumerated() {
            if index & 0xff == 0xff, !clock.mayContinue { return targets.forEachFiled(found.add) }
            if log?.deleted.contains(key) != true { try after.read(key) }
            if wasOther(key, log) { try before.read(key) }
        }
    }

    /// Returns whether an object existed before the range, with other values of the filed properties.
    private func wasOther(_ key: ObjectKey, _ log: RangeLog.TableLog?) -> Bool {
        guard let log else { return false }
        return log.deleted.contains(key) || log.modified[key]?.intersects(targets.columns) == true
    }
}

/// Finds the observations that the values of objects in one version concern.
private final class ValueSearch {
    /// The entries of the class.
    private let targets: ClassTargets
    /// Finds the objects; nil when the version does not have the class.
    private let finder: ObjectFinder?
    private let found: TargetIndex.Found

    /// Prepares the search in a version.
    init(of table: TableKey, _ targets: ClassTargets, in snapshot: Snapshot, adding found: TargetIndex.Found) {
        self.targets = targets
        self.found = found
        finder = snapshot.table(table).map { ObjectFinder($0) }
    }

    /// Adds the observations that an object concerns. One that does not exist in the version, or is not seen, concerns none.
    func read(_ key: ObjectKey) throws(StorageError) {
        guard let finder, let row = try finder.find(key) else { return }
        var values = RowValues(row, finder.table)
        for (column, property) in targets.properties {
            guard let value = try values.value(column) else {
                property.forEach(found.add)
                continue
            }
            var failure: StorageError?
            property.forEach(at: value) { entry in
                guard failure == nil, !found.contains(entry) else { return }
                do throws(StorageError) {
                    for test in entry.tests {
                        if let value = try values.value(test.column), !test.admits(value) { return }
                    }
                    found.add(entry)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
    }
}

/// The values of one object, each of which is read once.
private struct RowValues {
    private let row: Row
    /// The class of the object in the version.
    private let table: Table
    /// The values that were read; few, so they are searched one by one.
    private var known: [(column: ColumnKey, value: Value)] = []

    /// Prepares the reading of an object.
    init(_ row: Row, _ table: Table) {
        self.row = row
        self.table = table
    }

    /// Returns the value of a property; nil when the version does not have or show it.
    mutating func value(_ column: ColumnKey) throws(StorageError) -> Value? {
        for entry in known where entry.column == column { return entry.value }
        guard let property = table.column(column) else { return nil }
        let value = try row.value(property)
        known.append((column, value))
        return value
    }
}
