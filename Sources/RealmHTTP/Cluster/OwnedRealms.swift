// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmReplica
internal import RealmStorage

/// The realms that this node owns, and those that it has owned and that somebody still reads.
///
/// Any thread may use it.
final class OwnedRealms: Sendable {
    /// The owners and what is left of earlier openings.
    private struct State {
        /// The owners of open realms, by name.
        var owners: [String: RealmOwner] = [:]
        /// The realms whose logs are kept short, by name. They keep their databases open.
        var kept: [String: LoggedRealm] = [:]
        /// What is read of files whose realms were closed, by name. A file must not be brought up over what is read.
        var read: [String: [VersionPins]] = [:]
        /// When realms were lost, by name.
        var lost: [String: Instant] = [:]
    }

    private let state = RankedMutex(.leaf, State())
    /// How many seconds a loss is remembered.
    private static let lossSeconds = 10.0

    /// The owner of an open realm; nil when it is not open.
    func owner(of name: String) -> RealmOwner? { state.withLock { $0.owners[name] } }

    /// The number of open realms.
    var count: Int { state.withLock { $0.owners.count } }

    /// Notes a realm that was opened, or whose log is kept short again.
    func add(_ realm: LoggedRealm) {
        let before = state.withLock { state in
            state.owners[realm.owner.realm] = realm.owner
            return state.kept.updateValue(realm, forKey: realm.owner.realm)
        }
        withExtendedLifetime(before) {}
    }

    /// Takes the realm of a name, so that nothing here keeps it open.
    func takeKept(_ name: String) -> LoggedRealm? { state.withLock { $0.kept.removeValue(forKey: name) } }

    /// Notes that a realm was closed.
    ///
    /// - Parameters:
    ///   - pins: The versions of its file that are read; nil for none.
    ///   - owner: Its owner, which may not be the present one.
    ///   - name: Its name.
    func remove(_ pins: VersionPins?, _ owner: RealmOwner, of name: String) {
        state.withLock { state in
            if state.owners[name] === owner { state.owners[name] = nil }
            if let pins { state.read[name, default: []].append(pins) }
        }
    }

    /// Notes that a realm was lost to another node, or in doubt.
    func noteLoss(of name: String) { state.withLock { $0.lost[name] = .now() } }

    /// Whether a realm was lost a moment ago, so that the map may be older than that.
    func wasLost(_ name: String) -> Bool {
        let now = Instant.now()
        return state.withLock { state in
            state.lost = state.lost.filter { now.seconds(since: $0.value) < OwnedRealms.lossSeconds }
            return state.lost[name] != nil
        }
    }

    /// The oldest version of the file of a realm that somebody reads; nil when nobody does.
    func oldestReader(of name: String) -> UInt64? {
        let pins = state.withLock { $0.read[name] ?? [] }
        return pins.compactMap(\.oldest).min()
    }

    /// Forgets realms that nobody reads any more.
    func forgetUnread() {
        let known = state.withLock { $0.read }
        let rest = known.mapValues { $0.filter { $0.oldest != nil } }
        state.withLock { state in
            for (name, pins) in rest {
                // What came meanwhile stays.
                guard state.read[name]?.count == known[name]?.count else { continue }
                state.read[name] = pins.isEmpty ? nil : pins
            }
        }
    }
}
