// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The list of leases of clients: interactive transactions, snapshots and streams. Administrators see it and may end each entry.
///
/// There is one for a server. The parts that own the transactions, snapshots and streams add and
/// remove entries. Any thread may call it.
package final class LeaseRegistry: Sendable {
    /// The kind of thing that a client holds open.
    package enum Kind: String, Sendable { case transaction, snapshot, stream }

    /// One thing that a client holds open.
    package struct Lease: Sendable {
        /// The id of the transaction, snapshot or stream that a client holds open.
        package let id: String
        /// Whether a client holds open a transaction, a snapshot or a stream.
        package let kind: Kind
        /// The name of the realm in which the client holds something open.
        package let realm: String
        /// The user that holds the transaction, snapshot or stream; nil without credentials.
        package let principal: String?
        /// The time at which the transaction, snapshot or stream was opened, by the clock of the system.
        package let begin: WallClock
        /// Returns whether its holder may keep it; nil if it ends automatically when that changes.
        fileprivate let mayStay: (@Sendable () -> Bool)?
        /// Ends it early. Called at most once, on the thread of the administrator's request or on
        /// that of the timer, without a lock.
        fileprivate let end: @Sendable () -> Void

        /// Makes an entry that begins now.
        ///
        /// - Parameters:
        ///   - id: The id of the thing that is held.
        ///   - principal: The user that holds it.
        ///   - begin: The time of opening.
        ///   - mayStay: Returns whether its holder may keep it; nil if it ends automatically when that changes.
        ///   - end: Called at most once, when it is ended early.
        package init(
            id: String, kind: Kind, realm: String, principal: String?, begin: WallClock = .now(),
            mayStay: (@Sendable () -> Bool)? = nil, end: @escaping @Sendable () -> Void
        ) {
            self.mayStay = mayStay
            self.id = id
            self.kind = kind
            self.realm = realm
            self.principal = principal
            self.begin = begin
            self.end = end
        }
    }

    private let leases = RankedMutex<[ByteText: Lease]>(.leaf, [:])

    /// Makes a registry in which nothing is held open.
    package init() {}

    /// Adds a transaction, snapshot or stream to the list, where it stays until it is removed or ended.
    package func add(_ lease: Lease) { leases.withLock { $0[lease.id] = lease } }

    /// Removes an entry that has ended. Does nothing if there is none of that id.
    package func remove(_ id: String) {
        let lease = leases.withLock { $0.removeValue(forKey: id) }
        withExtendedLifetime(lease) {}
    }

    /// Ends an entry early and removes it.
    ///
    /// - Parameter id: The id of the entry.
    /// - Returns: Whether there was an entry of this id.
    package func end(_ id: String) -> Bool {
        guard let lease = leases.withLock({ $0.removeValue(forKey: id) }) else { return false }
        HeldLocks.assertNone()
        lease.end()
        return true
    }

    /// Ends early the entries with a revoked credential, or whose holder has lost the rights by the roles in force.
    package func endOutdated() {
        let held = leases.withLock { leases in leases.values.filter { $0.mayStay != nil } }
        for lease in held where lease.mayStay?() == false { _ = end(lease.id) }
    }

    /// All transactions, snapshots and streams that clients hold open, the oldest first.
    package var all: [Lease] {
        leases.withLock { leases in
            leases.values.sorted { ($0.begin.nanoseconds, $0.id) < ($1.begin.nanoseconds, $1.id) }
        }
    }
}

/// Keeping the list of leases consistent with the interactive transactions that exist.
extension LeaseRegistry {
    /// Removes the leases of interactive transactions that have ended by a commit, a failure or a timeout.
    ///
    /// Called before the leases are listed: a transaction does not report its end here.
    ///
    /// - Parameter database: Finds the open realm of a name, whose open transaction is compared with the leases.
    package func removeEndedTransactions(_ database: (String) -> Database?) {
        for lease in all where lease.kind == .transaction {
            if let database = database(lease.realm), database.openTransaction?.id == lease.id { continue }
            remove(lease.id)
        }
    }
}
