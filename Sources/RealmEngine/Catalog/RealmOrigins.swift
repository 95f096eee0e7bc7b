// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// Where realms come from: the command line and the data folder, or a request alone.
///
/// What a request has named and could not be opened is nothing that the server has to do with: it does not make the server
/// unready, and is forgotten some time after its client could read why.
final class RealmOrigins: Sendable {
    private struct Origin {
        var path: String?
        var isRequested: Bool
    }

    private struct State {
        var origins: [String: Origin] = [:]
        /// When those failed that only a request has named.
        var failures: [String: Instant] = [:]
    }

    private let state = RankedMutex(.leaf, State())
    /// How many `failures` there are: this is asked with every request.
    private let failureCount = Atomic(0)
    private let forgetsAfter: Duration

    init(forgetsAfter: Duration) { self.forgetsAfter = forgetsAfter }

    func add(_ name: String, path: String?, isRequested: Bool) {
        change { $0.origins[name] = Origin(path: path, isRequested: isRequested) }
    }

    func remove(_ name: String) {
        change { state in
            state.origins[name] = nil
            state.failures[name] = nil
        }
    }

    func path(of name: String) -> String? { state.withLock { $0.origins[name]?.path } }

    func isRequested(_ name: String) -> Bool { state.withLock { $0.origins[name]?.isRequested ?? false } }

    func noteFailure(of name: String) {
        change { state in
            if state.origins[name]?.isRequested == true { state.failures[name] = .now() }
        }
    }

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
