// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The work that waits for the thread of a hub: commits and calls.
///
/// It is bounded: commits that arrive faster than rounds end are joined, and when their changes become too many, the changes
/// are discarded. Observers then read their contents again. The monitor of the hub guards it.
struct ObservationInbox {
    /// One piece of work for the thread of the hub.
    enum Item {
        /// Advances the targets over a commit.
        case commit(WaitingCommit)
        /// Makes a call when all commits up to a version have been delivered.
        case call(atLeast: UInt64, @Sendable () -> Void)
    }

    /// The commits and calls that wait for the thread, in their order.
    private(set) var items: [Item] = []
    /// The number of waiting commits; joined ones are counted one by one.
    private(set) var commitCount = 0
    /// The number of changes of the waiting commits.
    private var changeCount = 0
    /// The number of items that are commits; each of them keeps its version.
    private var versionCount = 0
    /// Whether new work is rejected.
    var isClosed = false
    /// Whether anything was observed ever.
    var isUsed = false
    /// Whether a thread works for the hub or was requested.
    var isScheduled = false
    /// Whether the hub has ended all attachments, after it was closed.
    var isStopped = false
    /// The instant at which a timer calls the hub for its passive targets; nil when none is set.
    var timer: Instant?

    /// Adds a commit, joins it with waiting ones when there are many, and discards changes when there are too many.
    ///
    /// - Parameters:
    ///   - limits: The numbers of commits and changes that may wait.
    mutating func add(_ commit: WaitingCommit, _ limits: ObservationLimits) {
        var commit = commit
        if changeCount + commit.changeCount > limits.waitingChanges, commitCount > 0, !commit.hasSchemaChanges { commit.forget() }
        changeCount += commit.changeCount
        if commitCount >= limits.waitingCommits, !commit.isBarrier, case .commit(var last)? = items.last, !last.isBarrier {
            last.join(commit)
            items[items.count - 1] = .commit(last)
        } else if versionCount < limits.waitingBarriers || !mergeIntoLast(commit) {
            items.append(.commit(commit))
            versionCount += 1
        }
        commitCount += 1
    }

    /// Merges a commit into the last one that waits; returns false when none waits. Calls between the two commits then run at a
    /// later version than they requested, which is also correct.
    private mutating func mergeIntoLast(_ commit: WaitingCommit) -> Bool {
        for index in items.indices.reversed() {
            guard case .commit(var last) = items[index] else { continue }
            last.merge(commit)
            items[index] = .commit(last)
            return true
        }
        return false
    }

    /// Adds a call that is made when everything up to `version` has been delivered.
    mutating func add(_ call: @escaping @Sendable () -> Void, atLeast version: UInt64) {
        items.append(.call(atLeast: version, call))
    }

    /// Removes and returns all work in its order.
    mutating func dequeue() -> [Item] {
        defer { (items, commitCount, changeCount, versionCount) = ([], 0, 0, 0) }
        return items
    }

    /// Records that a timer is set; returns its instant, or nil when an earlier one is set or none is needed.
    mutating func setTimer(for deadline: Instant) -> Instant? {
        guard !deadline.isDistantFuture, timer.map({ deadline < $0 }) ?? true else { return nil }
        timer = deadline
        return deadline
    }
}
