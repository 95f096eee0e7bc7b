// SPDX-License-Identifier: Apache-2.0

/// The order in which locks are taken, from the outermost to the innermost: the only place where it is stated.
///
/// A thread that holds a lock may take another only if its rank comes later in this list. Debug builds check that (`HeldLocks`)
/// and stop with both names; release builds do not.
///
/// The rules for all code that guards something:
/// * **No callback under a lock.** A completion, an observer, a closure of a caller, a `Reply`:
///   collect under the lock what is to be called, and call it afterwards. Code that calls such a
///   thing calls `HeldLocks.assertNone()` before it.
/// * **Release objects afterwards.** The last reference to a version, a body or a registration ends
///   more than itself, so take it out of the lock: `let dropped = state.withLock { state in …
///   return old }`.
/// * **No waiting under a lock**: no `Monitor.wait`, no system call that may block, no query, no
///   encoding.
///
/// To choose a rank: take `leaf`. Two locks of the same rank are never held together, so `leaf` states that no other lock is
/// taken meanwhile. Only if another lock has to be taken under this one, give it a case of its own, above that of the other.
public enum LockRank: UInt8, Comparable, Sendable {
    // MARK: Connections

    /// The lock of `Exchange.waiter`, under which the connection is watched and left.
    case exchange
    /// The lock of `StreamWatch`.
    case streamWatch
    /// The lock of `StreamBody`, under which workers are requested and its connection is suspended.
    case streamBody
    /// The lock of `SuspensionTable`.
    case suspensions

    // MARK: Notifications

    /// The lock of `RegistrationTable`, under which its registrations are read.
    case registrationTable
    /// The lock of `Registration`.
    case registration
    /// The lock of `ChangeService`, under which `RealmNotifications` are made.
    case changeService
    /// The lock of `EventStream`, under which its feeds are read and `RealmNotifications` is called.
    case eventStream
    /// The lock of `RealmNotifications`, under which its feeds are read.
    case realmNotifications
    /// The lock of `ChangeFeed`.
    case changeFeed
    /// The lock of the inbox of `ObservationHub`.
    case observationInbox

    // MARK: The rest

    /// The lock of `Catalog`, under which its databases are read.
    case catalog
    /// The lock of the queue of `WorkerPool`.
    case workers
    /// The lock of `WriteQueue`, under which a thread is requested.
    case writeQueue
    /// The lock of `SharedThreads`.
    case sharedThreads
    /// Locks under which no other lock is taken, except `versionPins`: nearly all.
    case leaf
    /// The lock of `VersionPins`, which is the last in the order because a version may be released wherever its last reader is.
    case versionPins

    /// Returns whether locks of the rank `left` are taken before those of the rank `right`.
    public static func < (left: LockRank, right: LockRank) -> Bool { left.rawValue < right.rawValue }
}
