// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// What clients hold open for a time: transactions, snapshots, streams. Shown to administrators, who may end each.
package final class LeaseRegistry: Sendable {
    /// What is held.
    package enum Kind: String, Sendable { case transaction, snapshot, stream }

    /// One thing that a client holds.
    package struct Lease: Sendable {
        package let id: String
        package let kind: Kind
        package let realm: String
        package let principal: String?
        package let begin: WallClock
        /// Called once, from any thread, to end it early.
        fileprivate let end: @Sendable () -> Void

        /// A lease that begins now. `end` is called at most once, when an administrator ends it early.
        package init(
            id: String, kind: Kind, realm: String, principal: String?, begin: WallClock = .now(),
            end: @escaping @Sendable () -> Void
        ) {
            self.id = id
            self.kind = kind
            self.realm = realm
            self.principal = principal
            self.begin = begin
            self.end = end
        }
    }

    private let leases = RankedMutex<[String: Lease]>(.leaf, [:])

    /// A registry without leases.
    package init() {}

    /// Shows a lease until it is removed.
    package func add(_ lease: Lease) { leases.withLock { $0[lease.id] = lease } }

    /// Forgets a lease that is over.
    package func remove(_ id: String) {
        let lease = leases.withLock { $0.removeValue(forKey: id) }
        withExtendedLifetime(lease) {}
    }

    /// Ends a lease; false when there is none of that id.
    package func end(_ id: String) -> Bool {
        guard let lease = leases.withLock({ $0.removeValue(forKey: id) }) else { return false }
        HeldLocks.assertNone()
        lease.end()
        return true
    }

    /// All leases, the oldest first.
    package var all: [Lease] {
        leases.withLock { leases in
            leases.values.sorted { ($0.begin.nanoseconds, $0.id) < ($1.begin.nanoseconds, $1.id) }
        }
    }
}
