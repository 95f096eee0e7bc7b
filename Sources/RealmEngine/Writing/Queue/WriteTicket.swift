// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Refers to a write that was submitted, so that it can be cancelled.
package struct WriteTicket: Sendable {
    /// The submitted write.
    let job: WriteJob

    /// Cancels the write; returns false when it has begun or finished.
    package func cancel() -> Bool { job.cancel() }
}
