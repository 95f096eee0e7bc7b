// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Records the origin of each realm: the configuration of the server, or a request.
///
/// A realm that only a request has named and that cannot be opened does not make the server unready. It
/// is forgotten some time after its client could read the reason. All threads may use this.
final class RealmOrigins: Sendable {
    /// The origin of one realm: its file, and whether the configuration or a request has named it.
    private struct Origin {
        /// The path of the file; nil for a realm in memory.
        var path: String?
        /// The resolved path of a file that is served itself; nil for private copies.
        var ownPath: String?
        /// Whether only a request has named the realm.
        var isRequested: Bool
        /// The instant from which on it could not be opened; nil while it can.
        var failedSince: Instant?
    }

    /// The origins and failures of realms, as the lock of the register guards them.
    private struct State {
        var origins: [ByteText: Origin] = [:]
        /// The instants at which realms failed that only a request has named.
        var failures: [ByteText: Instant] = [:]
        /// The number of realms with a file, by its path.
        var paths: [ByteText: Int] = [:]

        /// Records or forgets the path of a realm.
        mutating func count(_ path: String?, _ change: Int) {
            guard let path else { return }
            let count = paths[path, default: 0] + change
            paths[path] = count > 0 ? count : nil
        }
    }

    /// The origins and failures; the lock is a leaf.
    private let state = RankedMutex(.leaf, State())
    /// The number of `failures`, which is read for every request without the lock.
    private let failureCount = Atomic(0)
    /// The time after which such a failed realm is forgotten.
    private let forgetsAfter: Duration

    /// Makes an empty register; `forgetsAfter` is the time after which failed realms are forgotten.
    init(forgetsAfter: Duration) { self.forgetsAfter = forgetsAfter }

    /// Records the origin of a realm that is about to be opened.
    ///
    /// - Parameters:
    ///   - path: The resolved path of its file; nil for a realm in memory.
    ///   - isOwner: Whether the file itself is served, and not private copies of it.
    func add(_ name: String, path: String?, isRequested: Bool, isOwner: Bool) {
        let ownPath = isOwner ? path.map { (try? System.resolved($0)) ?? $0 } : nil
        change { state in
            state.count(state.origins[name]?.ownPath, -1)
            state.origins[name] = Origin(path: path, ownPath: ownPath, isRequested: isRequested)
            state.count(ownPath, 1)
        }
    }

    /// Removes a realm that was detached.
    func remove(_ name: String) {
        change { state in
            state.count(state.origins.removeValue(forKey: name)?.ownPath, -1)
            state.failures[name] = nil
        }
    }

    /// Returns whether a realm has the file at a resolved path, in any state.
    func serves(path: String) -> Bool { state.withLock { $0.paths[path] != nil } }

    /// Returns whether a realm was attached or configured with a path, and not found in the data folder.
    func hasPath(_ name: String) -> Bool { path(of: name) != nil }

    /// Returns whether a realm was attached or configured, with a path or in memory.
    func knows(_ name: String) -> Bool { state.withLock { $0.origins[name] != nil } }

    /// Returns the path of a realm's file; nil when the realm is unknown or in memory.
    func path(of name: String) -> String? { state.withLock { $0.origins[name]?.path } }

    func isRequested(_ name: String) -> Bool { state.withLock { $0.origins[name]?.isRequested ?? false } }

    /// Records that a realm failed. If only a request has named it, it is forgotten later; more attempts do not postpone that.
    func noteFailure(of name: String) {
        change { state in
            guard let origin = state.origins[name], origin.isRequested else { return }
            let since = origin.failedSince ?? .now()
            state.origins[name]?.failedSince = since
            state.failures[name] = since
        }
    }

    /// Records that a failed realm is being reopened, so that it is not forgotten in the meantime.
    func noteAttempt(of name: String) { change { $0.failures[name] = nil } }

    /// Records that a realm is open.
    func noteSuccess(of name: String) {
        change { state in
            state.failures[name] = nil
            state.origins[name]?.failedSince = nil
        }
    }

    /// Changes the state, and publishes the number of failures for readers without the lock.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            failureCount.store(state.failures.count, ordering: .releasing)
        }
    }

    /// Removes and returns the realms whose time after their failure has passed.
    func takeForgotten() -> [String] {
        guard failureCount.load(ordering: .acquiring) > 0 else { return [] }
        let now = Instant.now()
        var names: [String] = []
        change { state in
            names = state.failures.filter { now.duration(since: $0.value) >= forgetsAfter }.map(\.key.text)
            for name in names {
                state.count(state.origins.removeValue(forKey: name)?.ownPath, -1)
                state.failures[name] = nil
            }
        }
        return names
    }
}
