// SPDX-License-Identifier: Apache-2.0

/// The order in which locks are taken, from the outermost to the innermost: the one place where it is written down.
///
/// A thread that holds a lock may take another only if its rank is further down in this list. Debug builds check that
/// (`HeldLocks`) and stop with both names; release builds carry nothing of it.
///
/// The rules for everybody who guards something:
/// * **No callback under a lock.** A completion, an observer, a closure of a caller, a `Reply`: collect what is to be called
///   under the lock, and call it afterwards. Whoever calls such a thing says `HeldLocks.assertNone()` before it.
/// * **Let go of objects afterwards.** The last reference to a version, a body or a registration ends more than itself, so
///   take it out of the lock: `let dropped = state.withLock { state in … return old }`.
/// * **No waiting under a lock**: no `Monitor.wait`, no system call that may block, no query, no encoding.
///
/// Choosing a rank: take `leaf`. Two locks of the same rank are never held together, so `leaf` says that nothing else is
/// locked meanwhile. Only if another lock has to be taken under this one, give it a case of its own, above that of the other.
public enum LockRank: UInt8, Comparable, Sendable {
    // MARK: Connections

    /// `Exchange.waiter`: watches and leaves the connection under it.
    case exchange
    /// `StreamWatch`.
    case streamWatch
    /// `StreamBody`: asks for workers and suspends its connection.
    case streamBody
    /// `SuspensionTable`.
    case suspensions

    // MARK: Notifications

    /// `RegistrationTable`: looks at its registrations.
    case registrationTable
    /// `Registration`.
    case registration
    /// `ChangeService`: makes `RealmNotifications`.
    case changeService
    /// `EventStream`: reads its feeds and asks `RealmNotifications`.
    case eventStream
    /// `RealmNotifications`: looks through its feeds.
    case realmNotifications
    /// `ChangeFeed`.
    case changeFeed
    /// `ObservationHub`'s inbox.
    case observationInbox

    // MARK: The rest

    /// `Catalog`: looks at the databases it knows.
    case catalog
    /// `WorkerPool`'s queue.
    case workers
    /// Locks under which nothing else is locked: nearly all.
    case leaf
    /// `VersionPins`: a version may be let go of wherever its last reader is.
    case versionPins

    /// Whether locks of the rank `left` are taken before those of the rank `right`.
    public static func < (left: LockRank, right: LockRank) -> Bool { left.rawValue < right.rawValue }
}
