// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Follows one target from version to version. One thread uses it at a time: the one that makes it, and then that of the hub.
///
/// For every range `mayChange` is called first, and `advance` only if that returned true. `restart` is called in place of
/// `advance` when the changes are unknown. After an error the observer is not used any more.
protocol TargetObserver: AnyObject {
    /// The state at the version that the observer was last advanced to.
    var contents: ObservedContents { get }
    /// The memory in bytes that rows, sections and elements take.
    var byteCount: Int { get }
    /// Whether the object that the target belongs to was deleted, so that nothing can change any more.
    var isGone: Bool { get }

    /// The changes that the target has to be shown; `mayChange` is not called for others. It may name too much, but never too
    /// little, and remains the same until `adapt` is called or the object is gone.
    var interest: TargetInterest { get }

    /// Returns whether a range may change the target. It is a cheap test that may wrongly return true, but never wrongly false.
    func mayChange(over range: ObservedRange) -> Bool

    /// Advances to the end of the range, which starts at the present version.
    ///
    /// - Parameter range: The versions and the changes between them.
    /// - Returns: The change; nil when there is none.
    /// - Throws: `ObservationError` when the target cannot be read or takes too long; its observation
    ///   then ends.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange?

    /// Reads the state at a version, whatever has changed in between.
    ///
    /// - Parameter snapshot: The version.
    func restart(at snapshot: Snapshot) throws(ObservationError)

    /// Adapts to classes or properties that were added.
    ///
    /// - Parameters:
    ///   - snapshot: The version with the new schema.
    ///   - filter: The filter, which may cover more properties in the new schema.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError)
}

extension TargetObserver {
    /// Nothing, for observers that keep no rows.
    var byteCount: Int { 0 }

    /// All changes, for observers that cannot name any.
    var interest: TargetInterest { .everything }

    /// Returns true, for observers that cannot exclude any range.
    func mayChange(over range: ObservedRange) -> Bool { true }

    /// Does nothing, for observers without a filter.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) {}
}

extension ObservedTarget {
    /// Makes the observer of this target at a version.
    ///
    /// - Parameters:
    ///   - snapshot: The version. Its schema may have more than that in which the target was made.
    ///   - names: The configured names of linking objects.
    ///   - clock: Limits the time of evaluations.
    /// - Throws: `ObservationError`: `notFound` when the target does not exist, or the error of reading
    ///   it.
    func observer(at snapshot: Snapshot, names: BacklinkNames, _ clock: EvaluationClock) throws(ObservationError)
        -> any TargetObserver
    {
        let present = ObservedTarget(kind, filter: filter.resolved(in: snapshot, names), identity: identity)
        return try present.resolvedObserver(at: snapshot, names: names, clock)
    }

    /// Makes the observer of a target whose filter was resolved in the version.
    private func resolvedObserver(
        at snapshot: Snapshot, names: BacklinkNames, _ clock: EvaluationClock
    ) throws(ObservationError) -> any TargetObserver {
        switch kind {
        case .realm: return RealmObserver()
        case .results(let table, let query):
            return try RowsObserver(.table(table), query, filter: filter, names: names, clock: clock, at: snapshot)
        case .sections(let table, let query, let sections):
            return try SectionObserver(
                table, query, in: sections, filter: filter, names: names, clock: clock, at: snapshot)
        case .collection(let property): return try collection(property, in: snapshot, clock: clock)
        case .view(let property, let query): return try view(property, query, in: snapshot, names: names, clock: clock)
        case .linkingObjects(let target, let origin, let column, let query):
            return try RowsObserver(
                .linkingObjects(target, origin: origin, column), query ?? ObservedQuery(), filter: filter, names: names,
                clock: clock,
                at: snapshot)
        case .object(let object): return try ObjectObserver(object, filter, at: snapshot)
        }
    }

    /// Makes the observer of a whole collection, which has the order of the collection.
    private func collection(
        _ property: ObservedProperty, in snapshot: Snapshot, clock: EvaluationClock
    ) throws(ObservationError) -> any TargetObserver {
        if try property.column(in: snapshot).collection == .dictionary {
            return try DictionaryObserver(property, filter, clock, at: snapshot)
        }
        return try ListObserver(property, filter, at: snapshot)
    }

    /// Makes the observer of a selected or sorted collection.
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
    /// Returns the column of the collection; throws `notFound` when the property does not exist or is no collection.
    func column(in snapshot: Snapshot) throws(ObservationError) -> Column {
        guard let column = snapshot.table(object.table)?.column(self.column), column.collection != nil else { throw .notFound }
        return column
    }

    /// Returns the object that has the collection, with its column; nil when either does not exist.
    func owner(in snapshot: Snapshot) throws(StorageError) -> (row: Row, column: Column)? {
        guard let table = snapshot.table(object.table), let column = table.column(self.column),
            let row = try table.find(object.key)
        else { return nil }
        return (row, column)
    }
}

/// Runs an operation of storage, and converts its error to an `ObservationError`. One that `EvaluationClock.read` has stopped is cancelled
/// like a query.
@inline(__always)
func observed<Result>(_ body: @autoclosure () throws(StorageError) -> Result) throws(ObservationError) -> Result {
    do throws(StorageError) {
        return try body()
    } catch {
        if case .stopped(.expired) = error { throw .query(.cancelled) }
        throw .storage(error)
    }
}

/// Runs an operation of the query layer, and converts its error to an `ObservationError`.
@inline(__always)
func evaluated<Result>(_ body: @autoclosure () throws(QueryError) -> Result) throws(ObservationError) -> Result {
    do throws(QueryError) { return try body() } catch { throw .query(error) }
}

/// Observes a whole realm: reports the tables that every commit changes, also when it changes none.
final class RealmObserver: TargetObserver {
    /// The state of the target; a whole realm has no contents of its own.
    let contents = ObservedContents.realm
    /// Always false, because a realm is not deleted while it is observed.
    let isGone = false

    /// Returns the keys of the changed tables in ascending order.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        let tables = range.log.tables.filter { !$0.value.isEmpty }.keys.sorted { $0.position < $1.position }
        // A restricted principal is not notified of commits to hidden objects alone.
        return tables.isEmpty && range.to.snapshot.scope != nil ? nil : .realm(tables)
    }

    /// Does nothing, because there is no state.
    func restart(at snapshot: Snapshot) throws(ObservationError) {}
}
