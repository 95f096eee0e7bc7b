// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The rest after evaluations that nobody waits for. All of them together take a tenth of one processor at most, whatever the number of
/// realms, clients and definitions.
///
/// Any thread may use it.
final class IdleRest: Sendable {
    /// The rest of the server.
    static let shared = IdleRest()

    private let state = RankedMutex(.leaf, Instant.now())

    /// The instant before which none begins.
    var end: Instant { state.withLock { $0 } }

    /// Adds the rest after an evaluation.
    ///
    /// - Parameter time: How long the evaluation took.
    func add(_ time: Duration) { state.withLock { $0 = max($0, Instant.now()).adding(time * 10) } }
}
