// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets other threads follow long work and stop it: opening, upgrading, migrating, copying.
///
/// One thread works and reports; any other thread may cancel. The share of a stage in the whole is
/// estimated by its caller, so progress advances but not evenly.
package final class WorkControl: Sendable {
    /// Whether the work was cancelled; set by any thread, read by those that work.
    private let cancelled = Atomic(false)
    /// Whether `isWanted` has returned false.
    private let unwanted = Atomic(false)
    /// When `isWanted` is called next, in nanoseconds of the monotonic clock.
    private let nextProbe = Atomic<UInt64>(0)
    /// The range of the whole, within 0 to 1, that the present stage covers.
    private let stage = RankedMutex<ClosedRange<Double>>(.leaf, 0...1)
    /// Called with the share of the whole that is done, from 0 to 1.
    private let report: @Sendable (Double) -> Void
    /// When the work expires; nil for no limit.
    private let deadline: Instant?
    /// Returns whether the result is still wanted; nil where the work does not depend on that.
    private let isWanted: (@Sendable () -> Bool)?
    /// How many seconds pass between two calls of `isWanted`.
    private static let secondsPerProbe = 0.25

    /// Makes a control.
    ///
    /// - Parameters:
    ///   - deadline: The timeout of the work; nil for no limit.
    ///   - report: Called by the thread that works, with the share of the whole that is done, from 0
    ///     to 1.
    ///   - isWanted: Returns whether the result is still wanted; called by the threads that work, about four times a second. Nil for
    ///     work that does not depend on that.
    package init(
        deadline: Instant? = nil, _ report: @escaping @Sendable (Double) -> Void = { _ in },
        isWanted: (@Sendable () -> Bool)? = nil
    ) {
        self.deadline = deadline
        self.isWanted = isWanted
        self.report = report
    }

    /// Requests the end of the work. Any thread may call it, more than once.
    package func cancel() { cancelled.store(true, ordering: .releasing) }

    /// Whether `cancel` was called, so that the work has to end at its next check.
    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Begins a stage that covers this range of the whole. A stage that is skipped need not be
    /// begun; progress within the stage is reported with `proceed`.
    package func begin(_ part: ClosedRange<Double>) { stage.withLock { $0 = part } }

    /// Reports how much of the present stage is done, from 0 to 1.
    package func proceed(to part: Double) {
        let stage = stage.withLock { $0 }
        report(stage.lowerBound + (stage.upperBound - stage.lowerBound) * min(max(part, 0), 1))
    }

    /// Throws `stopped` when the work was cancelled, `.stopped(.expired)` after its deadline, and `.stopped(.cancelled)` when the result is
    /// no longer wanted.
    package func check() throws(StorageError) {
        if isCancelled { throw WorkControl.stopped }
        guard deadline != nil || isWanted != nil else { return }
        let now = Instant.now()
        if let deadline, now > deadline { throw .stopped(.expired) }
        if isInVain(now) { throw .stopped(.cancelled) }
    }

    /// Whether `check` would not throw.
    package var continues: Bool {
        do throws(StorageError) {
            try check()
            return true
        } catch { return false }
    }

    /// Returns whether the result is no longer wanted. `isWanted` is called at most once in `secondsPerProbe`.
    private func isInVain(_ now: Instant) -> Bool {
        guard let isWanted else { return false }
        if unwanted.load(ordering: .relaxed) { return true }
        guard now.nanoseconds >= nextProbe.load(ordering: .relaxed) else { return false }
        nextProbe.store(now.adding(seconds: WorkControl.secondsPerProbe).nanoseconds, ordering: .relaxed)
        guard !isWanted() else { return false }
        unwanted.store(true, ordering: .relaxed)
        return true
    }

    /// The error that `check` throws after `cancel`.
    package static let stopped = StorageError.refused(.notWritable("the work was cancelled"))
}

extension StorageError {
    /// Whether a control or a budget has ended the work, so that the error states nothing about the file.
    package var isStop: Bool {
        if case .stopped = self { return true }
        return self == WorkControl.stopped
    }
}
