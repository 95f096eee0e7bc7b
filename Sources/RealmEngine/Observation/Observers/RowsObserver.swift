// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Observes a query result, a selected or sorted collection of links, or the objects that link to an object.
final class RowsObserver: TargetObserver {
    /// The rows in their order.
    private let rows: RowSequence
    /// Decides which changes of row objects count as modifications.
    private var filter: ObservedTarget.Filter
    var byteCount: Int { rows.byteCount }

    /// Starts to observe rows at the version of `snapshot`.
    ///
    /// - Parameters:
    ///   - source: The collection of objects to select from.
    ///   - query: The selection and order.
    ///   - filter: Decides which changes count as modifications.
    ///   - names: The configured names of linking objects.
    ///   - clock: Limits the time of evaluations.
    ///   - snapshot: The version.
    /// - Throws: `ObservationError`: `notFound` when the source does not exist, or the error of the
    ///   query.
    init(
        _ source: RowSource, _ query: ObservedQuery, filter: ObservedTarget.Filter, names: BacklinkNames,
        clock: EvaluationClock, at snapshot: Snapshot
    ) throws(ObservationError) {
        rows = try RowSequence(source, query, names: names, clock: clock, at: snapshot)
        self.filter = filter
    }

    /// The keys of the rows. When the object they depend on was deleted, the result is empty.
    var contents: ObservedContents { .rows(rows.table, rows.keys) }
    /// Whether the object that the rows depend on was deleted.
    var isGone: Bool { rows.isGone }

    /// Evaluates the rows of a version again, after a range whose changes are unknown.
    func restart(at snapshot: Snapshot) throws(ObservationError) { try rows.restart(at: snapshot) }

    /// Takes over the resolved filter, and adapts the plan to the new schema.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) {
        self.filter = filter
        try rows.adapt(to: snapshot)
    }

    /// The changes that may change the rows or one of the row objects.
    var interest: TargetInterest { rows.interest(filter) }

    func mayChange(over range: ObservedRange) -> Bool { rows.mayChange(over: range, filter) }

    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        let modified = try observed(try range.modified(in: rows.table, filter))
        guard let step = try rows.advance(over: range, modified: modified), !step.changes.isEmpty || rows.isGone else {
            return nil
        }
        var change = RowsChange(step.changes, deleted: step.deletedKeys, after: rows.keys, table: rows.table, range)
        change.isLast = rows.isGone
        return .rows(change)
    }
}
