// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Somebody wants to begin an interactive transaction.
struct BeginRequest: Sendable {
    let owner: String
    /// Among whose transactions it counts; nil for one that counts among nobody's.
    let client: String?
    /// When it entered the queue.
    let submitted = Instant.now()
    let waitEnds: Instant
    let idleTime: Duration
    let lifetime: Duration
    let completion: @Sendable (Result<TransactionInfo, WriteError>) -> Void
}
