// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Makes lines of states: the same state in several versions is one line, and what an object is now is left out.
struct StateMerge {
    private let present: FormerVersion
    /// The same, as far as unused space names it.
    private let index: PresentIndex
    /// The known tables.
    private let catalog: TableCatalog
    /// Makes states of rows of the present version.
    private let reader: StateReader
    /// Counts what is read of the present version.
    private var budget: SearchBudget { reader.map.budget }
    /// The most leaves of the present version with which rows without an object are compared; of larger classes they may be
    /// present rows.
    private static let maximumComparedLeaves = 1024
    /// The most sets of properties of rows without an object that are compared at all.
    private static let maximumComparedSets = 32
    /// Whether the present states are lines too.
    private let includesPresent: Bool

    init(_ reader: StateReader, includesPresent: Bool) {
        (present, index, catalog, self.reader) = (reader.present, reader.index, reader.catalog, reader)
        self.includesPresent = includesPresent
    }

    /// Which object states are of.
    private struct Identity: Hashable {
        let className: ByteText
        /// The kind of the key: 0 for a primary key, 1 for the key of the object, 2 for a row of which neither is known.
        let kind: UInt8
        let primaryKey: ByteText
        /// The key of the object, or the place of the leaf.
        let number: Int64

        /// Makes the identity of the object of a state.
        init(_ state: RecoveredState) {
            className = ByteText(state.leaf.table.className)
            primaryKey = ByteText(state.primaryKey ?? "")
            if state.primaryKey != nil {
                (kind, number) = (0, 0)
            } else if let key = state.objectKey {
                (kind, number) = (1, key)
            } else {
                (kind, number) = (2, Int64(bitPattern: state.leaf.ref))
            }
        }

        /// Makes the identity of a present row.
        ///
        /// - Parameters:
        ///   - primaryKey: The primary key; nil for a class without one.
        init(className: String, primaryKey: String?, objectKey: Int64) {
            self.className = ByteText(className)
            self.primaryKey = ByteText(primaryKey ?? "")
            (kind, number) = primaryKey == nil ? (1, objectKey) : (0, 0)
        }
    }

    /// The states of one object.
    private struct Group {
        /// Which object.
        let identity: Identity
        var states: [RecoveredState]
        /// The present state; nil for a deleted object.
        var now: RecoveredState?
    }

    /// Returns the lines of states, by class, and within a class in the order in which objects were found.
    ///
    /// - Returns: The lines, and the number of states that are left out because the budget did not suffice to compare them with
    ///   the present
    ///   version: whether their objects live is not known.
    func lines(of states: [RecoveredState]) -> (lines: [RecoveredLine], droppedCount: Int) {
        var groups: [Group] = []
        var places: [Identity: Int] = [:]
        for state in states {
            let identity = Identity(state)
            if let place = places[identity] {
                groups[place].states.append(state)
            } else {
                places[identity] = groups.count
                groups.append(Group(identity: identity, states: [state], now: nil))
            }
        }
        findPresentStates(&groups, places)
        guard !budget.isUsedUp else { return ([], states.count) }
        let rows = rowsWithoutObject(groups)
        var lines: [(order: Int, line: RecoveredLine)] = []
        for (order, group) in groups.enumerated() {
            for line in merged(group, known: rows) { lines.append((order, line)) }
        }
        lines.sort { ($0.line.className, $0.order) < ($1.line.className, $1.order) }
        return (lines.map(\.line), 0)
    }

    // MARK: - The present state

    /// Finds what the objects of groups are now, in one pass over the present rows of each class.
    private func findPresentStates(_ groups: inout [Group], _ places: [Identity: Int]) {
        var tables: [UInt32] = []
        for group in groups {
            guard let key = group.states.first?.leaf.table.key, tables.last != key, !tables.contains(key) else { continue }
            tables.append(key)
        }
        for key in tables {
            guard let table = present.table(key) else { continue }
            index.forEachLeaf(of: key) { rows in
                let objectKeys = rows.keys
                let primaryKeys = table.primaryKey.map { KeyBook.keys(of: rows, $0, present.reader) }
                let wanted = Set(
                    rows.relativeKeys.indices.filter { row in
                        // A primary key that cannot be read identifies no object.
                        if let primaryKeys, primaryKeys[row] == nil { return false }
                        let key = primaryKeys.flatMap { $0[row] }
                        return places[Identity(className: table.className, primaryKey: key, objectKey: objectKeys[row])] != nil
                    })
                guard !wanted.isEmpty || includesPresent else { return }
                var chosen = rows
                if !includesPresent { chosen.rows = wanted }
                for state in reader.presentStates(chosen) {
                    if let place = places[Identity(state)] {
                        groups[place].now = state
                    } else if includesPresent {
                        append(state, to: &groups)
                    }
                }
            }
        }
        guard includesPresent else { return }
        for table in present.tables where table.isClass && !table.isEmbedded && !tables.contains(table.key) {
            index.forEachLeaf(of: table.key) { rows in
                for state in reader.presentStates(rows) { append(state, to: &groups) }
            }
        }
    }

    /// Adds an object that only lives now.
    private func append(_ state: RecoveredState, to groups: inout [Group]) {
        budget.keep(state.leaf.columns.indices.reduce(64) { $0 + (state.value(at: $1)?.count ?? 0) })
        groups.append(Group(identity: Identity(state), states: [], now: state))
    }

    // MARK: - Rows without an object

    /// The names of the known columns of rows without an object, with hashes of their values.
    private typealias KnownRows = [ByteText: Set<Int>]

    /// Returns, for the sets of columns that rows without an object have, the hashes of values that are known of other objects.
    private func rowsWithoutObject(_ groups: [Group]) -> KnownRows {
        var known: KnownRows = [:]
        var wanted: [ByteText: (className: String, columns: [String])] = [:]
        for state in groups.lazy.flatMap(\.states) where state.isUnattributed && !state.knownColumns.isEmpty {
            let columns = state.knownNames
            wanted[StateMerge.name(state.leaf.table.className, columns)] = (state.leaf.table.className, columns)
        }
        guard !wanted.isEmpty, wanted.count <= StateMerge.maximumComparedSets else { return known }
        func add(_ state: RecoveredState) {
            guard !state.isUnattributed else { return }
            for (name, set) in wanted where set.className == state.leaf.table.className {
                if let hash = StateMerge.hash(state, set.columns) { known[name, default: []].insert(hash) }
            }
        }
        for group in groups {
            group.states.forEach(add)
            if let now = group.now { add(now) }
        }
        for table in present.tables {
            let sets = wanted.values.filter { $0.className == table.className }
            guard !sets.isEmpty else { continue }
            let columns = Set(texts: sets.flatMap(\.columns))
            var leafCount = 0
            index.forEachLeaf(of: table.key) { rows in
                leafCount += 1
                guard leafCount <= StateMerge.maximumComparedLeaves else { return }
                reader.presentStates(rows, columns: columns).forEach(add)
            }
        }
        return known
    }

    private static func name(_ className: String, _ columns: [String]) -> ByteText {
        ByteText(([className] + columns).joined(separator: "\0"))
    }

    /// Returns a hash of the values of some columns; nil when one of them is lost.
    private static func hash(_ state: RecoveredState, _ columns: [String]) -> Int? {
        var hasher = Hasher()
        for name in columns {
            guard let value = state.value(named: name) else { return nil }
            hasher.combine(value)
        }
        return hasher.finalize()
    }

    // MARK: - One object

    private func merged(_ group: Group, known: KnownRows) -> [RecoveredLine] {
        // Stable: what was found first comes first.
        let states = group.states.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            if a.leaf.origin != b.leaf.origin { return a.leaf.origin.rawValue < b.leaf.origin.rawValue }
            if a.leaf.newestVersion != b.leaf.newestVersion { return a.leaf.newestVersion > b.leaf.newestVersion }
            return left.offset < right.offset
        }.map(\.element)
        var merged: [[RecoveredState]] = []
        for state in states {
            let columns = state.knownColumns
            let keyName = state.leaf.table.primaryKey?.name
            guard !columns.isEmpty,
                columns.count > 1 || state.leaf.columns.count == 1 || state.leaf.columns[columns[0]].name != keyName
            else {
                continue
            }
            if state.isUnattributed, let hashes = known[StateMerge.name(state.leaf.table.className, state.knownNames)],
                let hash = StateMerge.hash(state, state.knownNames), hashes.contains(hash)
            {
                continue
            }
            if let now = group.now, !state.isUnattributed, now.leaf.hasColumns(of: state.leaf), now.hasValues(of: state) {
                continue
            }
            if let place = merged.firstIndex(where: { $0[0].leaf.hasColumns(of: state.leaf) && $0[0].hasValues(of: state) }) {
                merged[place].append(state)
            } else {
                merged.append([state])
            }
        }
        merged = joined(merged)
        var lines = merged.map { RecoveredLine($0, isPresent: false, livesNow: group.now != nil, catalog) }
        if includesPresent, let now = group.now { lines.append(RecoveredLine([now], isPresent: true, livesNow: true, catalog)) }
        return lines
    }

    /// Joins states with lost values to a fuller state of the same object that has all their values.
    private func joined(_ groups: [[RecoveredState]]) -> [[RecoveredState]] {
        var groups = groups
        let counts = groups.map { $0[0].knownColumns.count }
        // The emptiest first, so that what was joined is joined on.
        for index in groups.indices.sorted(by: { (counts[$0], $0) < (counts[$1], $1) }) {
            guard budget.spend(), counts[index] < groups[index][0].leaf.columns.count else { continue }
            let state = groups[index][0]
            let place = groups.indices.first { other in
                counts[other] > counts[index] && groups[other][0].leaf.hasColumns(of: state.leaf)
                    && groups[other][0].hasValues(of: state)
            }
            guard let place else { continue }
            groups[place] += groups[index]
            groups[index] = []
        }
        return groups.filter { !$0.isEmpty }
    }
}
