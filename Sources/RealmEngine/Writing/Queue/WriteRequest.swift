// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The options of a write besides its operations.
package struct WriteRequest: Sendable {
    /// The instant at which the write times out and is rolled back.
    package var deadline: Instant
    /// The version that must be the newest one; nil accepts any.
    /// Writes that are ahead of it in its group count as a newer version.
    package var ifVersion: UInt64?
    /// Whether the write is rolled back after it has run.
    package var isDryRun = false
    /// Whether the write shares its version with no other write.
    package var isAlone = false
    /// The maximum wait while an interactive transaction holds the writer; nil for the limit of the queue.
    package var lockWait: Duration?
    /// The action after observers were notified of the commit; only used for a write that is alone.
    package var mark: CommitMark?
    /// The request of a client that the write carries out, by which its repetition is recognized; nil for none.
    package var source: CommittedRequest?
    /// The client whose share of the memory for uncommitted writes applies; nil for none.
    package var client: String?
    /// Returns why the write must not be made any more although it waits; nil when it may. It is called without a lock; nil for a write
    /// that may be made in any case.
    package var refusal: (@Sendable () -> (any Error)?)?
    /// Receives the progress, and states whether the write was cancelled.
    package var control: WorkControl?

    /// Makes the options of a write.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the write times out.
    ///   - ifVersion: The version that must be the newest one; nil accepts any.
    ///   - isDryRun: Whether the write is rolled back after it has run.
    ///   - isAlone: Whether the write shares its version with no other write.
    package init(deadline: Instant, ifVersion: UInt64? = nil, isDryRun: Bool = false, isAlone: Bool = false) {
        self.deadline = deadline
        self.ifVersion = ifVersion
        self.isDryRun = isDryRun
        self.isAlone = isAlone
    }
}

/// The result of a write.
package struct WriteReceipt<Value: Sendable>: Sendable {
    /// The value that the closure of the write returned.
    package let value: Value
    /// The version of its durable commit; the newest version when nothing was changed or it was a dry run.
    package let version: Version
    /// Whether the changes are committed; false for dry runs.
    package let isCommitted: Bool
}
