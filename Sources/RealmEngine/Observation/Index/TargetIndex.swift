// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The observations of a hub by what concerns them, so that a round is shown to few of them.
///
/// Each observation has a bounded number of entries: one for each class that its query depends on, and at most 256 values or 64
/// alternatives that its query demands. So the memory of the index is bounded by the number of observations, which its users
/// limit. It is used on the thread of the hub only.
final class TargetIndex {
    /// The observations that every round is shown to.
    private var everything = TargetList()
    /// All others, by the class whose changes concern them. An observation may be in several classes.
    private var classes: [TableKey: ClassTargets] = [:]
    /// The number of the last search, with which observations are marked that it has found.
    private var search: UInt64 = 0

    // MARK: - Filing

    /// Files an observation by what concerns its observer now.
    func add(_ observation: Observation) {
        let interest = observation.observer.interest
        observation.interest = interest
        switch interest {
        case .everything: file(observation, at: .everything)
        case .object(let object, let filter):
            file(observation, at: .object(object))
            if case .keyPaths(let paths) = filter {
                classes[object.table]?.countPaths(1, paths.name, filter)
            }
        case .rows(let rows): add(observation, rows)
        }
    }

    /// Files an observation of rows.
    private func add(_ observation: Observation, _ rows: RowInterest) {
        for (table, changes) in rows.changes { file(observation, at: .changes(table, changes)) }
        if let root = rows.root { file(observation, at: .object(root)) }
        if let demand = rows.demand {
            for alternative in demand.alternatives { file(observation, alternative, of: demand, in: rows.table) }
            return count(rows, 1)
        }
        switch rows.filter {
        case .shallow: break
        case .all: file(observation, at: .reached(rows.table))
        case .keyPaths(let paths):
            let name = paths.name
            let entry = IndexedTarget(observation, at: .paths(rows.table, name))
            observation.entries.append(entry)
            classes[rows.table, default: ClassTargets()].add(entry, name, rows.filter)
        }
    }

    /// Counts an observation by values that other objects may modify: one more, or one less.
    private func count(_ rows: RowInterest, _ difference: Int) {
        switch rows.filter {
        case .shallow: break
        case .all: classes[rows.table, default: ClassTargets()].countReaching(difference)
        case .keyPaths(let paths):
            classes[rows.table, default: ClassTargets()].countPaths(difference, paths.name, rows.filter)
        }
    }

    private func file(
        _ observation: Observation, _ alternative: QueryDemand.Alternative, of demand: QueryDemand, in table: TableKey
    ) {
        let places: [IndexedTarget.Place]
        switch alternative.key {
        case .values(let values): places = values.map { .value(table, alternative.column, PropertyTargets.hash($0)) }
        case .bounds: places = [.interval(table, alternative.column)]
        case .tested: places = [.tested(table, alternative.column)]
        }
        for place in places { file(IndexedTarget(observation, alternative, of: demand, at: place), in: table) }
    }

    /// Files an observation in a list that is not about values.
    private func file(_ observation: Observation, at place: IndexedTarget.Place) {
        let entry = IndexedTarget(observation, at: place)
        guard let table = place.table else {
            observation.entries.append(entry)
            return everything.add(entry)
        }
        file(entry, in: table)
    }

    /// Adds an entry to the lists of a class.
    private func file(_ entry: IndexedTarget, in table: TableKey) {
        entry.observation?.entries.append(entry)
        classes[table, default: ClassTargets()].add(entry)
    }

    func remove(_ observation: Observation) {
        for entry in observation.entries {
            entry.clear()
            guard let table = entry.place.table else {
                everything.remove(entry)
                continue
            }
            classes[table]?.remove(entry)
            dropClass(table)
        }
        observation.entries = []
        switch observation.interest {
        case .rows(let rows) where rows.demand != nil:
            count(rows, -1)
            dropClass(rows.table)
        case .object(let object, .keyPaths(let paths)):
            classes[object.table]?.countPaths(-1, paths.name, .keyPaths(paths))
            dropClass(object.table)
        default: break
        }
        observation.interest = .everything
    }

    /// Removes the lists of a class when nothing is filed in them.
    private func dropClass(_ table: TableKey) {
        if classes[table]?.isEmpty == true { classes[table] = nil }
    }

    // MARK: - Searching

    /// Returns the observations that the changes of a range may concern, in the order in which they began.
    ///
    /// - Parameters:
    ///   - range: The versions and the changes between them.
    ///   - clock: Limits the time of the search, after which all observations count as concerned.
    /// - Complexity: Linear in the number of changed objects and found observations; for observations whose demands need a test
    ///   also in the number of these.
    func concerned(by range: ObservedRange, _ clock: EvaluationClock) -> [Observation] {
        search += 1
        let found = TargetIndex.Found(search)
        for entry in everything.entries { found.add(entry) }
        for (table, targets) in classes { TargetSearch(of: table, targets, over: range, clock: clock, adding: found).run() }
        return found.observations.sorted { $0.number < $1.number }
    }
}

extension TargetIndex {
    /// The observations that a search has found so far.
    final class Found {
        /// The observations, each of which is there once.
        private(set) var observations: [Observation] = []
        private let search: UInt64

        /// Begins a search, whose number no other one has.
        init(_ search: UInt64) { self.search = search }

        /// Whether an entry's observation was found.
        func contains(_ entry: IndexedTarget) -> Bool { entry.observation?.foundBy == search }

        /// Adds the observation of an entry.
        func add(_ entry: IndexedTarget) {
            guard let observation = entry.observation, observation.foundBy != search else { return }
            observation.foundBy = search
            observations.append(observation)
        }
    }
}

extension IndexedTarget.Place {
    /// The class of the list; nil for the list of those that every round is shown to.
    var table: TableKey? {
        switch self {
        case .everything: return nil
        case .changes(let table, _), .reached(let table), .paths(let table, _), .value(let table, _, _), .interval(let table, _),
            .tested(let table, _):
            return table
        case .object(let object): return object.table
        }
    }
}
