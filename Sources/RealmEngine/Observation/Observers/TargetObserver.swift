// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// Follows one target from version to version. Used on the thread of the hub only.
///
/// The order of calls: `mayChange` is asked for every range; only if it is true `advance` follows. `restart` comes in place of
/// `advance` when it is not known what happened. After an error the observer is not used any more.
protocol TargetObserver: AnyObject {
    /// The state at the version that it was last advanced to.
    var contents: ObservedContents { get }
    /// The object that it belonged to was deleted: nothing will ever change again.
    var isGone: Bool { get }

    /// Whether a range may change the target. A cheap test that may only err on the side of true.
    func mayChange(over range: ObservedRange) -> Bool

    /// Advances to the end of the range, which begins at the present version. Nil when there is no change.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange?

    /// Reads the state at a version, whatever happened in between.
    func restart(at snapshot: Snapshot) throws(ObservationError)

    /// Classes or properties were added in the present version, and the filter may include more now.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError)
}

extension TargetObserver {
    /// Without knowing better, any range may.
    func mayChange(over range: ObservedRange) -> Bool { true }

    /// Without a filter there is nothing to do.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) {}
}

extension ObservedTarget {
    /// Throws `notFound` when it is not there, or what reading it threw.
    func observer(at snapshot: Snapshot, names: BacklinkNames, _ clock: EvaluationClock) throws(ObservationError)
        -> any TargetObserver
    {
        switch kind {
        case .realm: return RealmObserver()
        case .results(let table, let query):
            return try RowsObserver(.table(table), query, filter: filter, names: names, clock: clock, at: snapshot)
        case .sections(let table, let query, let sections):
            return try SectionObserver(
                table, query, in: sections, filter: filter, names: names, clock: clock, at: snapshot)
        case .collection(let property): return try collection(property, snapshot)
        case .view(let property, let query): return try view(property, query, in: snapshot, names: names, clock: clock)
        case .linkingObjects(let target, let origin, let column, let query):
            return try RowsObserver(
                .linkingObjects(target, origin: origin, column), query ?? ObservedQuery(), filter: filter, names: names,
                clock: clock,
                at: snapshot)
        case .object(let object): return try ObjectObserver(object, filter, at: snapshot)
        }
    }

    /// The observer of a collection that stands for itself.
    private func collection(
        _ property: ObservedProperty, _ snapshot: Snapshot
    ) throws(ObservationError) -> any TargetObserver {
        if try property.column(in: snapshot).collection == .dictionary {
            return try DictionaryObserver(property, filter, at: snapshot)
        }
        return try ListObserver(property, filter, at: snapshot)
    }

    /// The observer of a selection of a collection.
    private func view(
        _ property: ObservedProperty, _ query: ObservedQuery, in snapshot: Snapshot, names: BacklinkNames,
        clock: EvaluationClock
    ) throws(ObservationError) -> any TargetObserver {
        if try property.column(in: snapshot).type == .link {
            return try RowsObserver(
                .collection(property), query, filter: filter, names: names, clock: clock, at: snapshot)
        }
        return try ValueViewObserver(property, query, clock, at: snapshot)
    }
}

extension ObservedProperty {
    /// The column of a collection; throws `notFound` when there is none.
    func column(in snapshot: Snapshot) throws(ObservationError) -> Column {
        guard let column = snapshot.table(object.table)?.column(self.column), column.collection != nil else { throw .notFound }
        return column
    }

    /// The collection's column with its owner, or nil when that is gone.
    func owner(in snapshot: Snapshot) throws(StorageError) -> (row: Row, column: Column)? {
        guard let table = snapshot.table(object.table), let column = table.column(self.column),
            let row = try table.find(object.key)
        else { return nil }
        return (row, column)
    }
}

/// Runs something that reads storage, with its errors as those of an observation.
@inline(__always)
func observed<Result>(_ body: @autoclosure () throws(StorageError) -> Result) throws(ObservationError) -> Result {
    do throws(StorageError) { return try body() } catch { throw .storage(error) }
}

/// Runs something that evaluates a query, with its errors as those of an observation.
@inline(__always)
func evaluated<Result>(_ body: @autoclosure () throws(QueryError) -> Result) throws(ObservationError) -> Result {
    do throws(QueryError) { return try body() } catch { throw .query(error) }
}
