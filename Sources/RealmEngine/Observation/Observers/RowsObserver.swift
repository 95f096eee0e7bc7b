// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Follows a result, a view of a collection of objects, or the objects that link to one.
final class RowsObserver: TargetObserver {
    /// The rows, kept in order.
    private let rows: RowSequence
    /// Which changes of elements count.
    private var filter: ObservedTarget.Filter

    /// Follows rows from the version of `snapshot` on; throws `notFound` when there is nothing that they come from.
    init(
        _ source: RowSource, _ query: ObservedQuery, filter: ObservedTarget.Filter, names: BacklinkNames,
        clock: EvaluationClock, at snapshot: Snapshot
    ) throws(ObservationError) {
        rows = try RowSequence(source, query, names: names, clock: clock, at: snapshot)
        self.filter = filter
    }

    /// Views and linking objects are results: when what they come from is deleted they have no rows.
    var contents: ObservedContents { .rows(rows.table, rows.keys) }
    /// Whether the object that the rows come from was deleted.
    var isGone: Bool { rows.isGone }

    func restart(at snapshot: Snapshot) throws(ObservationError) { try rows.restart(at: snapshot) }

    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) {
        self.filter = filter
        try rows.adapt(to: snapshot)
    }

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
