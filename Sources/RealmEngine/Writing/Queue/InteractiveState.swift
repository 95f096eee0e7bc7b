// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The interactive transaction that holds the writer, as other threads see it.
///
/// Guarded by the monitor of the queue: requests put their step in, the writer thread takes it out.
struct InteractiveState: Sendable {
    /// What its client is shown.
    var info: TransactionInfo
    /// Among whose transactions it counts.
    let client: String?
    /// The end of the whole lease.
    let expires: Instant
    /// The end of the lease unless a request comes.
    var idleEnds: Instant
    /// Whether a request is in it: a second one has to come later.
    var isBusy = false
    /// A request for the writer thread.
    var step: TransactionStep?

    /// When the lease is over, unless a request prolongs it.
    var ends: Instant { isBusy ? expires : min(expires, idleEnds) }
}
