// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The interactive transaction that holds the writer, as other threads see it.
///
/// It is guarded by the monitor of the queue: requests store their step in it, and the writer's thread
/// takes the step out.
struct InteractiveState: Sendable {
    /// The description of the transaction that its client receives.
    var info: TransactionInfo
    /// The client whose limit of transactions it counts against.
    let client: String?
    /// The instant at which the transaction ends even if it is in use.
    let expires: Instant
    /// The instant at which the transaction ends if no request arrives.
    var idleEnds: Instant
    /// Whether a request is running in it; a second request is rejected meanwhile.
    var isBusy = false
    /// The request that the writer's thread runs next.
    var step: TransactionStep?

    /// The instant at which the lease ends if no further request arrives.
    var ends: Instant { isBusy ? expires : min(expires, idleEnds) }
}
