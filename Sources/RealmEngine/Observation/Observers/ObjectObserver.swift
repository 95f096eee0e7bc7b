// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Observes one object: which of its properties were written, or which key paths lead to a change.
final class ObjectObserver: TargetObserver {
    private let object: ObservedObject
    /// Decides which changes count: those of the object, or those that key paths lead to.
    private var filter: ObservedTarget.Filter
    /// Whether the object was deleted.
    private(set) var isGone = false

    /// Starts to observe an object at the version of `snapshot`; throws `notFound` when it does not exist.
    init(_ object: ObservedObject, _ filter: ObservedTarget.Filter, at snapshot: Snapshot) throws(ObservationError) {
        self.object = object
        self.filter = filter
        try restart(at: snapshot)
        if isGone { throw .notFound }
    }

    /// Whether the object exists; its values are read by the subscriber.
    var contents: ObservedContents { isGone ? .gone : .object }

    /// Reads whether the object exists in a version, after a range whose changes are unknown.
    func restart(at snapshot: Snapshot) throws(ObservationError) {
        isGone = try observed(try snapshot.table(object.table)?.find(object.key)) == nil
    }

    /// Takes over the filter, whose key paths were resolved in a schema with additions.
    func adapt(to snapshot: Snapshot, _ filter: ObservedTarget.Filter) throws(ObservationError) { self.filter = filter }

    /// The changes of the object, and those that key paths lead to.
    var interest: TargetInterest { .object(object, filter) }

    /// Returns whether the object was deleted or written, or objects on its key paths may have changed.
    func mayChange(over range: ObservedRange) -> Bool {
        if range.log.isDeleted(object) { return true }
        if case .keyPaths = filter { return range.mayModify(object.table, filter) }
        return !range.log.written(object).isEmpty
    }

    /// Returns the changed properties over a range, or the deletion of the object.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        if range.log.isDeleted(object) {
            isGone = true
            return .objectDeleted
        }
        let steps = try changedSteps(range)
        return steps.isEmpty ? nil : .object(steps)
    }

    /// Returns the changed properties as first steps of key paths.
    private func changedSteps(_ range: ObservedRange) throws(ObservationError) -> [KeyPathFilter.Step] {
        switch filter {
        case .shallow: return []
        case .all:
            let written = range.log.written(object)
            guard !written.isEmpty else { return [] }
            return columns(range).filter { written.contains($0.key) }.map { .property(object.table, $0.key) }
        case .keyPaths(let filter):
            let hits = try observed(try range.hits(of: filter))
            var steps: [KeyPathFilter.Step] = []
            for (chain, objects) in zip(filter.chains, hits) where objects.contains(object.key) {
                if let first = chain.first, !steps.contains(first) { steps.append(first) }
            }
            return inOrder(steps, range)
        }
    }

    /// Returns the properties of the class in their order.
    private func columns(_ range: ObservedRange) -> [Column] { range.to.snapshot.table(object.table)?.columns ?? [] }

    /// Sorts steps by the order of properties in the schema, with linking objects last.
    private func inOrder(_ steps: [KeyPathFilter.Step], _ range: ObservedRange) -> [KeyPathFilter.Step] {
        let columns = columns(range)
        return steps.enumerated().map { index, step -> (rank: Int, step: KeyPathFilter.Step) in
            guard case .property(_, let key) = step else { return (columns.count + index, step) }
            return (columns.firstIndex { $0.leafIndex == key.leafIndex } ?? columns.count, step)
        }.sorted { $0.rank < $1.rank }.map(\.step)
    }
}
