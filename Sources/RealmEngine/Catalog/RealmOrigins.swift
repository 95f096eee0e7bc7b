// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// Where realms come from: the command line and the data folder, or a request alone.
///
/// What a request has named and could not be opened is nothing that the server has to do with: it does not make the server
/// unready, and is forgotten some time after its client could read why.
final class RealmOrigins: Sendable {
    /// Where one realm comes from.
    private struct Origin {
        /// The file as it was resolved; nil for a realm in memory.
        var path: String?
        /// Whether a request alone has named the realm.
        var isRequested: Bool
    }

    /// What the lock guards.
    private struct State {
        /// By the name of the realm.
        var origins: [String: Origin] = [:]
        /// When those failed that only a request has named.
        var failures: [String: Instant] = [:]
    }

    /// Where realms come from; the lock is a leaf.
    private let state = RankedMutex(.leaf, State())
    /// How many `failures` there are: this is asked with every request.
    private let failureCount = Atomic(0)
    /// How long a failed realm that only a request has named is remembered.
    private let forgetsAfter: Duration

    /// Realms that failed and that only a request has named are forgotten after `forgetsAfter`.
    init(forgetsAfter: Duration) { self.forgetsAfter = forgetsAfter }

    /// Notes where a realm comes from that is about to be opened.
    func add(_ name: String, path: String?, isRequested: Bool) {
        change { $0.origins[name] = Origin(path: path, isRequested: isRequested) }
    }

    /// Forgets a realm that is detached.
    func remove(_ name: String) {
        change { state in
            state.origins[name] = nil
            state.failures[name] = nil
        }
    }

    /// The file of a realm; nil when it is unknown or has none.
    func path(of name: String) -> String? { state.withLock { $0.origins[name]?.path } }

    /// Whether a request alone has named the realm.
    func isRequested(_ name: String) -> Bool { state.withLock { $0.origins[name]?.isRequested ?? false } }

    /// Notes that a realm failed: one that only a request has named is forgotten some time later.
    func noteFailure(of name: String) {
        change { state in
            if state.origins[name]?.isRequested == true { state.failures[name] = .now() }
        }
    }

    /// Changes the state, and publishes how many failures there are for those who only ask that.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            failureCount.store(state.failures.count, ordering: .releasing)
        }
    }

    /// The names that have been there long enough after they failed; they are forgotten here.
    func takeForgotten() -> [String] {
        guard failureCount.load(ordering: .acquiring) > 0 else { return [] }
        let now = Instant.now()
        var names: [String] = []
        change { state in
            names = state.failures.filter { now.duration(since: $0.value) >= forgetsAfter }.map(\.key)
            for name in names {
                state.origins[name] = nil
                state.failures[name] = nil
            }
        }
        return names
    }
}
