// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
package import RealmPlatform
internal import RealmReplica
internal import RealmStorage

/// The open realms of a node whose commits are in the log: those that it owns, and those that it follows.
///
/// One thread at a time has the *turn* of a realm, in which its role changes. Any thread may call this.
package final class ClusterRealms: Sendable {
    /// The object that keeps an open realm up to date with the log.
    enum Role: Sendable {
        /// This node writes the realm.
        case owned(LoggedRealm)
        /// Another node, or none, writes the realm.
        case followed(FollowedLogRealm)
        /// The realm is owned, and nothing here keeps it open, because it is about to be closed.
        case ownedUnheld(RealmOwner)
        /// The realm was followed, and nothing here keeps it open, because it is about to be closed.
        case left(FollowedPlace)

        /// The owner; nil for a realm that is followed.
        var owner: RealmOwner? {
            switch self {
            case .owned(let realm): return realm.owner
            case .ownedUnheld(let owner): return owner
            case .followed, .left: return nil
            }
        }

        /// Whether nothing here keeps the realm open.
        var isUnheld: Bool {
            switch self {
            case .owned, .followed: return false
            case .ownedUnheld, .left: return true
            }
        }
    }

    /// A callback that waits until this node owns a realm, and gets the reason for a failure. It must not wait.
    package typealias Waiter = @Sendable (StorageError?) -> Void

    /// An open realm.
    private struct Realm {
        /// The identity of the database.
        let id: ObjectIdentifier
        weak var database: Database?
        /// The object that keeps it up to date with the log.
        var role: Role
        /// Whether a thread has the turn.
        var isTurn = false
        /// Whether the role has to be checked again after the turn.
        var isWanted = false
        /// Whether the ownership was lost, or is in doubt.
        var isLost = false
        /// The callbacks that wait until it is owned.
        var waiters: [Waiter] = []
    }

    /// The realms, and the state left of closed ones.
    private struct State {
        /// The open realms by name.
        var realms: [ByteText: Realm] = [:]
        /// The versions that are still read of files whose realms were closed, by name. A file must not be updated over them.
        var read: [ByteText: [VersionPins]] = [:]
        var lost: [ByteText: Instant] = [:]
    }

    private let monitor = Monitor(State())
    /// The seconds for which a loss is remembered.
    private static let lossSeconds = 10.0
    /// The number of callbacks that may wait until a realm is owned.
    private static let waiterLimit = 4096

    // MARK: - Looking

    /// The object that keeps an open realm up to date with the log; nil when it is not open.
    func role(of name: String) -> Role? { monitor.withLock { $0.realms[name]?.role } }

    /// The owner of an open realm; nil when it is not open, or followed.
    func owner(of name: String) -> RealmOwner? { role(of: name)?.owner }

    /// The numbers of open realms that are owned, and that are followed.
    package var counts: (owned: Int, followed: Int) {
        monitor.withLock { state in
            let owned = state.realms.values.count { $0.role.owner != nil }
            return (owned, state.realms.count - owned)
        }
    }

    /// The names of the open realms, with whether they are owned.
    var all: [(name: String, isOwned: Bool)] {
        monitor.withLock { state in state.realms.map { ($0.key.text, $0.value.role.owner != nil) } }
    }

    // MARK: - Opening and closing

    /// Notes a realm that was opened.
    func add(_ name: String, _ database: Database, _ role: Role) {
        let before = monitor.broadcast { state in
            state.realms.updateValue(Realm(id: ObjectIdentifier(database), database: database, role: role), forKey: name)
        }
        withExtendedLifetime(before) {}
    }

    /// Records that a realm was closed.
    ///
    /// - Parameters:
    ///   - id: The identity of its database, which may not be the present one of the name.
    ///   - pins: The versions of its file that are read; nil for none.
    /// - Returns: The object that kept it up to date with the log, and the callbacks that wait until it is owned; nil when it was
    ///   not known.
    func remove(_ name: String, _ id: ObjectIdentifier, _ pins: VersionPins?) -> (role: Role, waiters: [Waiter])? {
        let realm = monitor.broadcast { state -> Realm? in
            if let pins { state.read[name, default: []].append(pins) }
            guard state.realms[name]?.id == id else { return nil }
            return state.realms.removeValue(forKey: name)
        }
        return realm.map { ($0.role, $0.waiters) }
    }

    // MARK: - Turns

    /// Records that the role of a realm may have to change.
    ///
    /// - Returns: Whether the caller has to change it, with `takeTurn`; otherwise another thread does, or there is nothing to do.
    func want(_ name: String) -> Bool {
        monitor.withLock { state in
            guard let realm = state.realms[name] else { return false }
            state.realms[name]?.isWanted = true
            guard !realm.isTurn, !realm.role.isUnheld else { return false }
            state.realms[name]?.isTurn = true
            return true
        }
    }

    /// Begins a step of the turn that `want` has given.
    ///
    /// - Returns: The realm, and whether its ownership was lost; nil when it was closed.
    func step(_ name: String) -> (database: Database, role: Role, isLost: Bool)? {
        monitor.withLock { state in
            guard let realm = state.realms[name], realm.isTurn, let database = realm.database else { return nil }
            state.realms[name]?.isWanted = false
            return (database, realm.role, realm.isLost)
        }
    }

    /// Ends a step, and the turn unless the role has to be checked again.
    ///
    /// - Parameters:
    ///   - id: The identity of its database.
    ///   - role: The object that keeps the realm up to date with the log from now on; nil when that has not changed.
    ///   - isLast: Whether no other step may follow.
    /// - Returns: Whether the realm is still open; whether another step follows; the waiting callbacks, when none does.
    func endStep(
        _ name: String, _ id: ObjectIdentifier, _ role: Role?, isLast: Bool
    ) -> (isOpen: Bool, continues: Bool, waiters: [Waiter]) {
        monitor.broadcast { state in
            guard var realm = state.realms[name], realm.id == id else { return (false, false, []) }
            if let role {
                realm.role = role
                realm.isLost = false
            }
            let continues = (role != nil || realm.isWanted) && !isLast
            var waiters: [Waiter] = []
            if !continues {
                realm.isTurn = false
                swap(&waiters, &realm.waiters)
            }
            state.realms[name] = realm
            return (true, continues, waiters)
        }
    }

    /// Releases a turn that cannot be used.
    func abandonTurn(_ name: String) -> [Waiter] {
        monitor.broadcast { state in
            defer { state.realms[name]?.waiters = [] }
            state.realms[name]?.isTurn = false
            return state.realms[name]?.waiters ?? []
        }
    }

    /// Adds a callback that waits until a realm is owned.
    ///
    /// - Returns: Whether the waiter was added; it is not when the realm is not open or too many wait.
    func addWaiter(to name: String, _ waiter: @escaping Waiter) -> Bool {
        monitor.withLock { state in
            guard let realm = state.realms[name], realm.waiters.count < ClusterRealms.waiterLimit else { return false }
            state.realms[name]?.waiters.append(waiter)
            return true
        }
    }

    // MARK: - Letting go

    /// Waits for the current turn of a realm to end, and takes the next one.
    ///
    /// - Returns: The object that keeps the realm up to date with the log; nil when it is not open, or nothing keeps it open.
    func beginRelease(_ name: String) -> Role? {
        let taken = monitor.wait { state -> Role?? in
            guard let realm = state.realms[name], !realm.role.isUnheld else { return .some(nil) }
            guard !realm.isTurn else { return nil }
            state.realms[name]?.isTurn = true
            return .some(realm.role)
        }
        return taken ?? nil
    }

    /// Records the state left of a released realm, or of one that is held again, and ends the turn.
    func endRelease(_ name: String, _ role: Role?) {
        monitor.broadcast { state in
            state.realms[name]?.isTurn = false
            if let role { state.realms[name]?.role = role }
        }
    }

    // MARK: - Losses

    /// Records that a realm was lost to another node, or is in doubt.
    func noteLoss(of name: String) {
        monitor.withLock { state in
            state.lost[name] = .now()
            state.realms[name]?.isLost = true
        }
    }

    /// Whether a realm was lost a moment ago, so that the map may be older than that.
    func wasLost(_ name: String) -> Bool {
        let now = Instant.now()
        return monitor.withLock { state in
            state.lost = state.lost.filter { now.seconds(since: $0.value) < ClusterRealms.lossSeconds }
            return state.lost[name] != nil
        }
    }

    // MARK: - Readers of files that were closed

    /// The oldest version of the file of a realm that is still read; nil for none.
    func oldestReader(of name: String) -> UInt64? {
        let pins = monitor.withLock { $0.read[name] ?? [] }
        return pins.compactMap(\.oldest).min()
    }

    /// Forgets realms without readers.
    func forgetUnread() {
        let known = monitor.withLock { $0.read }
        let rest = known.mapValues { $0.filter { $0.oldest != nil } }
        monitor.withLock { state in
            for (name, pins) in rest {
                // Versions added in the meantime stay.
                guard state.read[name]?.count == known[name]?.count else { continue }
                state.read[name] = pins.isEmpty ? nil : pins
            }
        }
    }
}
