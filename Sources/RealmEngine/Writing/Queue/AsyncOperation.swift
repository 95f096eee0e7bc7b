// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import Synchronization

/// Something else than a write of its own that is answered before it is done, such as the beginning of an
/// interactive transaction. `AsyncWrites` keeps its outcome like that of a write.
///
/// It is waiting, then running, then finished; or it is cancelled while it waits. Each change is one atomic
/// exchange, so it cannot be cancelled and begin.
package final class AsyncOperation: Sendable {
    /// The id by which clients request the outcome.
    package let id: String
    /// Where the outcome is kept.
    private let writes: AsyncWrites
    /// Whether it still waits: neither began nor was cancelled.
    private let isWaiting = Atomic(true)

    /// Registers an operation that waits.
    init(owner: String, _ writes: AsyncWrites) {
        id = writes.register(owner: owner)
        self.writes = writes
        writes.setCancellation(of: id) { [self] in cancel() }
    }

    /// Marks the operation as running, so that it can no longer be cancelled.
    ///
    /// - Returns: False when it was cancelled before; it must not take place then.
    package func begin() -> Bool {
        guard isWaiting.exchange(false, ordering: .acquiringAndReleasing) else { return false }
        writes.setState(.running, of: id)
        return true
    }

    /// Ends the operation. One that was cancelled stays so.
    ///
    /// - Parameters:
    ///   - isCommitted: Whether it has succeeded.
    ///   - outcome: The outcome that is kept of it.
    package func end(isCommitted: Bool, _ outcome: AsyncWrites.Outcome) {
        isWaiting.store(false, ordering: .releasing)
        writes.setState(isCommitted ? .committed(outcome) : .failed(outcome), of: id)
    }

    /// Cancels the operation; false when it has begun or ended.
    private func cancel() -> Bool {
        guard isWaiting.exchange(false, ordering: .acquiringAndReleasing) else { return false }
        writes.setState(.cancelled, of: id)
        return true
    }
}
