// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Observes a selection of the values of a list, set or dictionary, by their positions in it.
final class ValueViewObserver: TargetObserver {
    /// The property that contains the collection.
    private let property: ObservedProperty
    /// The query that selects and orders the values.
    private let query: ObservedQuery
    /// Limits the time of each evaluation.
    private let clock: EvaluationClock
    /// Whether the values are mixed: they may be links, so that a query over them reads other objects.
    private let mayReachObjects: Bool
    /// The positions of the selected values in the collection, in the order of the selection.
    private var places: [Int] = []
    var byteCount: Int { places.capacity * MemoryLayout<Int>.stride }
    /// The number of elements of the collection.
    private var size = 0
    /// Whether the object that has the collection was deleted.
    private(set) var isGone = false

    /// Starts to observe a selection at the version of `snapshot`; throws `notFound` when the object does not exist.
    init(
        _ property: ObservedProperty, _ query: ObservedQuery, _ clock: EvaluationClock, at snapshot: Snapshot
    ) throws(ObservationError) {
        self.property = property
        self.query = query
        self.clock = clock
        mayReachObjects = try property.column(in: snapshot).type == .mixed
        try restart(at: snapshot)
        if isGone { throw .notFound }
    }

    /// The positions of the selected values.
    var contents: ObservedContents { isGone ? .gone : .values(count: places.count, places: places) }

    /// Evaluates the selection in a version again, after a range whose changes are unknown.
    func restart(at snapshot: Snapshot) throws(ObservationError) {
        guard let (row, column) = try observed(try property.owner(in: snapshot)),
            let table = snapshot.table(property.object.table)
        else {
            isGone = true
            (places, size) = ([], 0)
            return
        }
        let values = try values(column, row, snapshot)
        let bound = try evaluated(
            try ElementQuery.bind(
                query.query, to: column, of: table, in: snapshot, arguments: query.arguments, order: query.order,
                check: clock.check))
        size = values.count
        let matches = try evaluated(try bound.execute(values, owner: row, check: clock.check))
        places = Array(matches.prefix(query.limit ?? .max))
    }

    /// Returns all values of the collection in its order.
    private func values(_ column: Column, _ row: Row, _ snapshot: Snapshot) throws(ObservationError) -> [Value] {
        var values: [Value] = []
        if column.collection == .dictionary {
            var entries = try observed(try row.dictionary(column, in: snapshot)).entries()
            while let entry = try observed(try entries.next()) {
                try evaluated(try clock.step(values.count))
                values.append(entry.value)
            }
        } else {
            var elements = try observed(try row.list(column, in: snapshot)).elements()
            while let value = try observed(try elements.next()) {
                try evaluated(try clock.step(values.count))
                values.append(value)
            }
        }
        return values
    }

    /// The changes of the object that has the collection, or all where the values may be links.
    var interest: TargetInterest { mayReachObjects ? .everything : .object(property.object, .shallow) }

    /// Returns whether the collection was written, its object deleted, or linked objects may have changed.
    func mayChange(over range: ObservedRange) -> Bool {
        range.log.isDeleted(property.object) || range.log.isWritten(property) || mayReachObjects && !range.log.tables.isEmpty
    }

    /// Returns the change of the selection over a range, by following positions through the recorded operations.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        if range.log.isDeleted(property.object) {
            isGone = true
            let changes = CollectionChanges.rootDeleted(count: places.count)
            (places, size) = ([], 0)
            return .values(ObservedChange.Values(changes: changes, insertedPlaces: [], modifiedPlaces: [], count: 0))
        }
        let before = places
        let oldSize = size
        try restart(at: range.to.snapshot)
        // The operations are lacking, or also count links that the listeners do not see.
        if range.log.hasReturned(property.object)
            || mayReachObjects && range.to.snapshot.scope != nil && range.log.isWritten(property)
        {
            return change(.replacement(of: before.count, with: places.count))
        }
        let log = range.log.operations(on: property)
        let collection = log.changes()
        guard collection.fits(before: oldSize, after: size) else { return .unknown }
        let follower = collection.newPositions(of: oldSize)
        let changes = SequenceDiff.changes(
            from: before.map { follower[$0].map { Int64($0) } }, to: places.map { Int64($0) },
            isModified: { [places] in log.modifications.contains(places[$0]) }, canReorder: true, isUnique: true)
        return change(changes)
    }

    /// Makes the event of a change of the selected values; nil when there is none.
    private func change(_ changes: CollectionChanges) -> ObservedChange? {
        guard !changes.isEmpty else { return nil }
        return .values(
            ObservedChange.Values(
                changes: changes, insertedPlaces: changes.insertions.map { places[$0] },
                modifiedPlaces: changes.modificationsNew.map { places[$0] }, count: places.count))
    }
}
