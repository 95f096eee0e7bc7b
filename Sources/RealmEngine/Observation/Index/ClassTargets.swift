// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The observations that are about objects of one class, by what concerns them.
struct ClassTargets {
    /// The observations with a filter of key paths.
    struct PathTargets {
        let filter: ObservedTarget.Filter
        /// The observations that any object on the paths concerns.
        var list = TargetList()
        /// The number of those that are also filed by values or objects, and are found by these.
        var filedCount = 0
    }

    /// The observations that kinds of changes concern.
    private(set) var changes: [ClassChanges: TargetList] = [:]
    /// The observations that each object with a path to a written one concerns.
    private(set) var reached = TargetList()
    /// The number of observations by values whose rows count as modified when they reach a written object.
    private(set) var reachingCount = 0
    /// The observations with key paths, by the text of these.
    private(set) var paths: [ByteText: PathTargets] = [:]
    /// The observations of single objects.
    private(set) var objects: [ObjectKey: TargetList] = [:]
    /// The observations that demand values, by property.
    private(set) var properties: [ColumnKey: PropertyTargets] = [:]
    /// The columns in `properties`, and those that their entries test besides; those of removed entries remain for a while.
    private(set) var columns = ColumnBits()
    /// The number of entries by values and by objects.
    private(set) var filedCount = 0

    /// Whether nothing is filed.
    var isEmpty: Bool {
        filedCount == 0 && changes.isEmpty && reached.isEmpty && paths.isEmpty && reachingCount == 0
    }

    // MARK: - Filing

    /// Adds an entry to the list that its place names.
    mutating func add(_ entry: IndexedTarget) {
        switch entry.place {
        case .everything, .paths: break
        case .changes(_, let changes): self.changes[changes, default: TargetList()].add(entry)
        case .reached: reached.add(entry)
        case .object(let object):
            filedCount += 1
            objects[object.key, default: TargetList()].add(entry)
        case .value(_, let column, _), .interval(_, let column), .tested(_, let column):
            filedCount += 1
            for test in entry.tests { columns.insert(test.column) }
            properties[column, default: PropertyTargets(column)].add(entry)
        }
    }

    /// Removes an entry, which was cleared.
    mutating func remove(_ entry: IndexedTarget) {
        switch entry.place {
        case .everything: break
        case .paths(_, let name):
            paths[name]?.list.remove(entry)
            dropPaths(name)
        case .changes(_, let changes):
            self.changes[changes]?.remove(entry)
            if self.changes[changes]?.isEmpty == true { self.changes[changes] = nil }
        case .reached: reached.remove(entry)
        case .object(let object):
            filedCount -= 1
            objects[object.key]?.remove(entry)
            if objects[object.key]?.isEmpty == true { objects[object.key] = nil }
        case .value(_, let column, _), .interval(_, let column), .tested(_, let column):
            filedCount -= 1
            properties[column]?.remove(entry)
            if properties[column]?.isEmpty == true { properties[column] = nil }
            if properties.isEmpty { columns = ColumnBits() }
        }
    }

    /// Adds an entry to those with the key paths of a filter.
    mutating func add(_ entry: IndexedTarget, _ name: String, _ filter: ObservedTarget.Filter) {
        paths[name, default: PathTargets(filter: filter)].list.add(entry)
    }

    /// Counts observations by values whose rows are modified by what they reach: one more, or one less.
    mutating func countReaching(_ difference: Int) { reachingCount += difference }

    /// Counts observations by values or objects with the key paths of a filter: one more, or one less.
    mutating func countPaths(_ difference: Int, _ name: String, _ filter: ObservedTarget.Filter) {
        paths[name, default: PathTargets(filter: filter)].filedCount += difference
        dropPaths(name)
    }

    /// Removes a filter that no observation has any more.
    private mutating func dropPaths(_ name: String) {
        guard let known = paths[name], known.list.isEmpty, known.filedCount == 0 else { return }
        paths[name] = nil
    }

    // MARK: - All

    /// Calls a closure with all entries, when it is not known which of them are concerned.
    func forEach(_ body: (IndexedTarget) -> Void) {
        forEachFiled(body)
        for list in changes.values { for entry in list.entries { body(entry) } }
        for entry in reached.entries { body(entry) }
        for group in paths.values { for entry in group.list.entries { body(entry) } }
    }

    /// Calls a closure with all entries that are filed by values or objects.
    func forEachFiled(_ body: (IndexedTarget) -> Void) {
        for list in objects.values { for entry in list.entries { body(entry) } }
        for property in properties.values { property.forEach(body) }
    }
}
