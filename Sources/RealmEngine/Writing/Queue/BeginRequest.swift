// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A request to begin an interactive transaction, as it waits in the queue.
struct BeginRequest: Sendable {
    /// The principal that will own the transaction.
    let owner: String
    /// The client whose limit of transactions applies; nil for no limit.
    let client: String?
    /// The maximum number of transactions of that client, open and waiting; nil for the limit of the database.
    let limit: Int?
    /// The instant at which it entered the queue.
    let submitted = Instant.now()
    /// The instant at which it stops waiting for the writer.
    let waitEnds: Instant
    /// The time for which the transaction may remain unused before it ends.
    let idleTime: Duration
    /// The longest time that the transaction may take in all.
    let lifetime: Duration
    /// Receives the transaction when it has ended although no request asked for a commit or a roll-back: its lease ended, a write
    /// in it failed, or the database is closed. It is called on the writer's thread and must not wait; nil for none.
    let ended: (@Sendable (TransactionInfo) -> Void)?
    /// Receives the open transaction or an error.
    /// It is called on the writer's thread, or on the caller's when the request is rejected at once.
    let completion: @Sendable (Result<TransactionInfo, WriteError>) -> Void
}
