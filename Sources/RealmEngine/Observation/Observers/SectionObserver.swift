// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Observes a query result that is divided into sections.
final class SectionObserver: TargetObserver {
    /// The rows in their order.
    private let rows: RowSequence
    /// Limits the time of each evaluation.
    private let clock: EvaluationClock
    /// The assignment of rows to sections, and the observed section.
    private let sections: ObservedSections
    /// Decides which changes of row objects count as modifications.
    private var filter: ObservedTarget.Filter
    /// The section of each row, in the version that the observer is at.
    private var map = SectionMap()
    /// The numbers that identify sections in the map, for as long as the sections exist.
    private var numbers: [SectionIdentity: Int] = [:]
    /// The memory in bytes that the keys of `numbers` take besides `bytesOfNumber`.
    private var keyBytes = 0
    private var nextNumber = 0

    /// A key of a section takes about as much as this with its number, besides a text or data.
    private static let bytesOfNumber = 160
    /// The most bytes of all keys, which are counted when the result is divided.
    private static let maximumKeyBytes = 64 << 20
    /// The most sections of a result.
    private static let maximumSections = 100_000

    var byteCount: Int { rows.byteCount + map.byteCount + numbers.count * SectionObserver.bytesOfNumber + keyBytes }

    /// Always false, because a result exists as long as its class.
    let isGone = false

    /// Starts to observe a result at the version of `snapshot`.
    ///
    /// - Parameters:
    ///   - table: The class of the rows.
    ///   - query: The selection and order.
    ///   - sections: The assignment of rows to sections, and the wanted section.
    ///   - filter: Decides which changes count as modifications.
    ///   - names: The configured names of linking objects.
    ///   - clock: Limits the time of evaluations.
    ///   - snapshot: The version.
    /// - Throws: `ObservationError` when the class does not exist or the query fails.
    init(
        _ table: TableKey, _ query: ObservedQuery, in sections: ObservedSections, filter: ObservedTarget.Filter,
        names: BacklinkNames, clock: EvaluationClock, at snapshot: Snapshot
    ) throws(ObservationError) {
        self.clock = clock
        rows = try RowSequence(.table(table), query, names: names, clock: clock, at: snapshot)
        self.sections = sections
        self.filter = filter
        map = try makeMap(snapshot)
    }

    /// Evaluates the rows and their sections again.
    func restart(at snapshot: Snapshot) throws(ObservationError) {
        try rows.restart(at: snapshot)
        map = try makeMap(snapshot)
        forgetNumbers()
    }

    /// Takes over the resolved filter, and adapts the plan to the new schema.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) {
        self.filter = filter
        try rows.adapt(to: snapshot)
    }

    /// Determines the section of each row in the version of the rows.
    ///
    /// - Complexity: One read of a cell for each row.
    private func makeMap(_ snapshot: Snapshot) throws(ObservationError) -> SectionMap {
        guard let table = snapshot.table(rows.table) else { throw .notFound }
        let bound = try rows.plan.bind(in: snapshot)
        let finder = ObjectFinder(table)
        var keys: [Int] = []
        keys.reserveCapacity(rows.keys.count)
        for key in rows.keys {
            // The key of a section may be a long text, so the time is checked for each row.
            try evaluated(try clock.step(0))
            guard let row = try observed(try finder.find(key)) else { throw .notFound }
            let cell = try evaluated(try bound.position(of: row)).cells.first ?? .missing
            keys.append(number(of: try sections.key(cell)))
            guard numbers.count <= SectionObserver.maximumSections else {
                throw .invalidSection(detail: "the result has more than \(SectionObserver.maximumSections) sections")
            }
            guard keyBytes <= SectionObserver.maximumKeyBytes else {
                throw .invalidSection(
                    detail: "the keys of the sections are longer in all than \(SectionObserver.maximumKeyBytes) bytes")
            }
        }
        return SectionMap(rows: keys)
    }

    private func number(of section: SectionIdentity) -> Int {
        if let number = numbers[section] { return number }
        numbers[section] = nextNumber
        keyBytes += section.value.byteCount
        nextNumber += 1
        return nextNumber - 1
    }

    /// Removes the numbers of sections that do not exist any more.
    private func forgetNumbers() {
        guard numbers.count > map.sections.count else { return }
        let present = Set(map.sections)
        numbers = numbers.filter { present.contains($0.value) }
        keyBytes = numbers.keys.reduce(0) { $0 + $1.value.byteCount }
    }

    // MARK: - State

    /// The identities of sections by their numbers.
    private var identities: [Int: SectionIdentity] {
        Dictionary(numbers.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The requested sections with their rows.
    var contents: ObservedContents {
        let identities = identities
        let rows = SectionObserver.rows(self.rows.keys, map)
        let wanted = wanted(of: identities)
        var result: [(index: Int, key: SectionIdentity, rows: [ObjectKey])] = []
        for (index, number) in map.sections.enumerated() {
            guard let identity = identities[number], sections.fit == nil || number == wanted else { continue }
            result.append((index, identity, rows[index]))
        }
        return .sections(self.rows.table, result)
    }

    /// Returns the number of the section that is observed; nil when there is none.
    private func wanted(of identities: [Int: SectionIdentity]) -> Int? {
        guard let fit = sections.fit else { return nil }
        let best = identities.map { (number: $0.key, fit: fit($0.value)) }.max { ($0.fit, $1.number) < ($1.fit, $0.number) }
        return best.flatMap { $0.fit > 0 ? $0.number : nil }
    }

    /// Returns the rows of each section in their order.
    private static func rows(_ keys: [ObjectKey], _ map: SectionMap) -> [[ObjectKey]] {
        var rows = map.counts.map { count in
            var rows: [ObjectKey] = []
            rows.reserveCapacity(count)
            return rows
        }
        for (key, place) in zip(keys, map.places) { rows[place.section].append(key) }
        return rows
    }

    // MARK: - Changes

    /// The changes that may change the rows or one of the row objects.
    var interest: TargetInterest { rows.interest(filter) }

    /// Returns whether a range may change the rows or one of the row objects.
    func mayChange(over range: ObservedRange) -> Bool { rows.mayChange(over: range, filter) }

    /// Returns the change of sections and rows over a range; if one section is wanted, only its change.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        let modified = try observed(try range.modified(in: rows.table, filter))
        let before = rows.keys
        guard let step = try rows.advance(over: range, modified: modified) else { return nil }
        let old = map
        var flat = step.changes
        if step.isEvaluated {
            map = try makeMap(range.to.snapshot)
            flat = SectionObserver.withMovedRows(flat, old, map)
        }
        defer { forgetNumbers() }
        var changes = SectionChanges.make(flat: flat, old: old, new: map)
        let identities = identities
        var count = rows.keys.count
        if sections.fit != nil {
            let wanted = wanted(of: identities)
            changes = wanted.map { changes.only($0, old: old, new: map) } ?? SectionChanges()
            count = wanted.flatMap { map.sections.firstIndex(of: $0) }.map { map.counts[$0] } ?? 0
        }
        guard !changes.isEmpty else { return nil }
        return .sections(change(changes, from: before, in: old, identities, count: count, over: range))
    }

    /// Adds the rows that kept their position but belong to another section, whether they were written or not.
    ///
    /// - Parameters:
    ///   - flat: The change of the rows without regard to sections.
    ///   - old: The sections before.
    ///   - new: The sections afterwards.
    private static func withMovedRows(_ flat: CollectionChanges, _ old: SectionMap, _ new: SectionMap) -> CollectionChanges {
        var modified: [Int] = []
        var nextDeletion = 0
        var nextInsertion = 0
        var nextModified = 0
        var before = 0
        for after in new.places.indices {
            if nextInsertion < flat.insertions.count, flat.insertions[nextInsertion] == after {
                nextInsertion += 1
                continue
            }
            while nextDeletion < flat.deletions.count, flat.deletions[nextDeletion] == before {
                nextDeletion += 1
                before += 1
            }
            let isModified = nextModified < flat.modificationsNew.count && flat.modificationsNew[nextModified] == after
            if isModified { nextModified += 1 }
            let hasMoved =
                before < old.places.count
                && old.sections[old.places[before].section] != new.sections[new.places[after].section]
            if isModified || hasMoved { modified.append(after) }
            before += 1
        }
        return CollectionChanges(deletions: flat.deletions, insertions: flat.insertions, modified: modified)
    }

    /// Makes the event of a change, with the keys of sections and rows.
    private func change(
        _ changes: SectionChanges, from before: [ObjectKey], in old: SectionMap, _ identities: [Int: SectionIdentity],
        count: Int, over range: ObservedRange
    ) -> SectionedChange {
        let oldRows = changes.deletions.isEmpty ? [] : SectionObserver.rows(before, old)
        let newRows = SectionObserver.rows(rows.keys, map)
        let modified = changes.modifications.map { newRows[$0.new.section][$0.new.row] }
        return SectionedChange(
            table: rows.table, changes: changes,
            deletedSections: changes.sectionsToDelete.compactMap { identities[old.sections[$0]] },
            insertedSections: changes.sectionsToInsert.compactMap { identities[map.sections[$0]] },
            deletedKeys: changes.deletions.map { oldRows[$0.section][$0.row] },
            insertedKeys: changes.insertions.map { newRows[$0.section][$0.row] }, modifiedKeys: modified,
            modifiedColumns: range.writtenColumns(of: modified, in: rows.table), count: count)
    }
}
