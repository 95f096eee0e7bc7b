// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What waits for the thread of a hub.
///
/// Bounded: commits that come faster than rounds end are joined, and when their changes become too many it is forgotten what
/// they were. Observers then read their contents again.
struct ObservationInbox {
    /// Something that the thread has to do.
    enum Item {
        /// Leads the targets over a commit.
        case commit(WaitingCommit)
        /// Runs when all commits up to a version were delivered.
        case call(atLeast: UInt64, @Sendable () -> Void)
    }

    /// What waits, in order.
    private(set) var items: [Item] = []
    /// How many commits wait, those that were joined counted one by one.
    private(set) var commitCount = 0
    /// How many changes those commits have.
    private var changeCount = 0
    /// Items that are commits: each holds its version.
    private var versionCount = 0
    /// Whether nothing new is taken.
    var isClosed = false
    /// Whether the thread was started.
    var hasThread = false
    /// Whether the thread has ended.
    var isStopped = false

    /// Joins what would wait too long, and forgets details when they become too many.
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

    /// Calls that were added after the last commit find a later version than they asked for, which is as good.
    private mutating func mergeIntoLast(_ commit: WaitingCommit) -> Bool {
        for index in items.indices.reversed() {
            guard case .commit(var last) = items[index] else { continue }
            last.merge(commit)
            items[index] = .commit(last)
            return true
        }
        return false
    }

    /// Adds a call that runs when everything up to `version` was delivered.
    mutating func add(_ call: @escaping @Sendable () -> Void, atLeast version: UInt64) {
        items.append(.call(atLeast: version, call))
    }

    /// Everything, in order.
    mutating func take() -> [Item] {
        defer { (items, commitCount, changeCount, versionCount) = ([], 0, 0, 0) }
        return items
    }
}
