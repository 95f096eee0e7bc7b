// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A request to begin an interactive transaction.
struct BeginRequest: Sendable {
    /// Whose transaction it will be.
    let owner: String
    /// The client whose limit it counts against; nil for no limit.
    let client: String?
    /// When it entered the queue.
    let submitted = Instant.now()
    /// When it gives up waiting for the writer.
    let waitEnds: Instant
    /// How long the transaction may be unused before it ends.
    let idleTime: Duration
    /// How long the transaction may last in all.
    let lifetime: Duration
    /// Called on the writer thread, or on the caller's when it is refused at once.
    let completion: @Sendable (Result<TransactionInfo, WriteError>) -> Void
}
