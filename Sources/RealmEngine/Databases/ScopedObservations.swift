// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The hubs of restricted listeners: one for each scope, so that listeners of one scope share the evaluation of each commit.
final class ScopedObservations: Sendable {
    /// Makes a hub that observes the realm in a scope.
    typealias Make = @Sendable (any VersionScope) -> ObservationHub

    /// The hubs by the identity of their scope.
    private struct State {
        /// The hubs that were requested and have not ended.
        var hubs: [ByteText: ObservationHub] = [:]
        /// Whether the realm is closed, so that no hub is kept any more.
        var isClosed = false
    }

    /// Makes the hub of a scope.
    private let make: Make
    /// The hubs; nothing is called under the lock.
    private let state = RankedMutex(.leaf, State())

    /// Makes an empty collection.
    ///
    /// - Parameter make: Makes the hub of a scope.
    init(_ make: @escaping Make) { self.make = make }

    /// Returns the hub of a scope, and makes it if there is none.
    ///
    /// - Returns: The hub; a closed one when the realm is closed.
    func hub(for scope: any VersionScope) -> ObservationHub {
        if let known = state.withLock({ $0.hubs[scope.identity] }) { return known }
        let made = make(scope)
        let (hub, isClosed) = state.withLock { state -> (ObservationHub, Bool) in
            if let known = state.hubs[scope.identity] { return (known, false) }
            if !state.isClosed { state.hubs[scope.identity] = made }
            return (made, state.isClosed)
        }
        if isClosed { hub.close() }
        return hub
    }

    /// Removes a hub that is about to be closed, so that later callers get a new one.
    ///
    /// - Parameters:
    ///   - hub: The hub. Another one that has taken its place stays.
    func forget(_ hub: ObservationHub, of identity: String) {
        // The caller holds the hub, so its last reference is not released under the lock.
        state.withLock { if $0.hubs[identity] === hub { $0.hubs[identity] = nil } }
    }

    /// Uses another object for the newest version: the same version in another file.
    func move(to version: Version) {
        for hub in state.withLock({ Array($0.hubs.values) }) { hub.move(to: version) }
    }

    /// Ends all hubs. Blocks until that is done.
    func close() {
        let hubs = state.withLock { state in
            state.isClosed = true
            defer { state.hubs = [:] }
            return Array(state.hubs.values)
        }
        for hub in hubs { hub.close() }
    }
}
