// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Tells which tables every commit touches, also when it touches none.
final class RealmObserver: TargetObserver {
    let contents = ObservedContents.realm
    let isGone = false

    func advance(over range: ObservedRange) throws(ObservationError) -> ObservedChange? {
        .realm(range.log.tables.filter { !$0.value.isEmpty }.keys.sorted { $0.position < $1.position })
    }

    func restart(at snapshot: Snapshot) throws(ObservationError) {}
}
