// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The interactive transaction that holds the writer, as other threads see it.
struct InteractiveState: Sendable {
    var info: TransactionInfo
    let client: String?
    /// The end of the whole lease.
    let expires: Instant
    /// The end of the lease if nobody comes.
    var idleEnds: Instant
    /// Whether a request is in it: a second one has to come later.
    var isBusy = false
    /// A request for the writer thread.
    var step: TransactionStep?

    /// When the lease is over as things stand.
    var ends: Instant { isBusy ? expires : min(expires, idleEnds) }
}
