// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets others follow long work and stop it: opening, upgrading, migrating, copying.
///
/// One thread works and reports; any other thread may cancel. The part of the whole that a stage takes is estimated by its
/// caller, so progress goes forward but not evenly.
package final class WorkControl: Sendable {
    /// Set by any thread; read by the one that works.
    private let cancelled = Atomic(false)
    /// The part of the whole, from 0 to 1, that the present stage is.
    private let stage = RankedMutex<ClosedRange<Double>>(.leaf, 0...1)
    /// Called with the share of the whole that is done.
    private let report: @Sendable (Double) -> Void

    /// `report` receives how much is done, from 0 to 1.
    package init(_ report: @escaping @Sendable (Double) -> Void = { _ in }) { self.report = report }

    /// Asks the work to end. May be called by any thread, and more than once.
    package func cancel() { cancelled.store(true, ordering: .releasing) }

    /// Whether the work is no longer wanted.
    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// What follows is this part of the whole.
    ///
    /// A stage that is skipped need not be begun. Progress within the stage is given by `proceed`.
    package func begin(_ part: ClosedRange<Double>) { stage.withLock { $0 = part } }

    /// Tells how much of the stage is done, from 0 to 1.
    package func proceed(to part: Double) {
        let stage = stage.withLock { $0 }
        report(stage.lowerBound + (stage.upperBound - stage.lowerBound) * min(max(part, 0), 1))
    }

    /// Throws when the work is no longer wanted.
    package func check() throws(StorageError) {
        if isCancelled { throw WorkControl.stopped }
    }

    /// What `check` throws after `cancel`.
    package static let stopped = StorageError.refused(.notWritable("the work was cancelled"))
}
