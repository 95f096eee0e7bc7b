// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// A hold on a write that was handed in.
package struct WriteTicket: Sendable {
    /// The write.
    let job: WriteJob

    /// Takes the write back; false when it has begun or is over.
    package func cancel() -> Bool { job.cancel() }
}
