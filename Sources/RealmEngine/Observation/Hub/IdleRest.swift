// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The pause after each evaluation of an idle target, for the whole server: these evaluations take a tenth of one processor at most, for
/// any number of realms, clients and definitions.
///
/// Any thread may use it.
final class IdleRest: Sendable {
    /// The pause of the server.
    static let shared = IdleRest()

    private let state = RankedMutex(.leaf, Instant.now())

    /// The instant before which no such evaluation begins.
    var end: Instant { state.withLock { $0 } }

    /// Adds the pause after an evaluation.
    ///
    /// - Parameter time: How long the evaluation took.
    func add(_ time: Duration) { state.withLock { $0 = max($0, Instant.now()).adding(time * 10) } }
}
