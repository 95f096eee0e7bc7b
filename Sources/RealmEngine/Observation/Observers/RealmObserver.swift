// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Observes a whole realm: reports the tables that every commit changes, also when it changes none.
final class RealmObserver: TargetObserver {
    /// The state of the target; a whole realm has no contents of its own.
    let contents = ObservedContents.realm
    /// Always false, because a realm is not deleted while it is observed.
    let isGone = false

    /// Returns the keys of the changed tables in ascending order.
    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        let tables = range.log.tables.filter { !$0.value.isEmpty }.keys.sorted { $0.position < $1.position }
        // Whoever may not see everything is not told of commits of what is hidden.
        return tables.isEmpty && range.to.snapshot.scope != nil ? nil : .realm(tables)
    }

    /// Does nothing, because there is no state.
    func restart(at snapshot: Snapshot) throws(ObservationError) {}
}
