// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One commit, or several that are told as one, on the way to the observers.
struct WaitingCommit {
    private(set) var version: Database.Version
    private(set) var changes: [[ObjectChange]]
    private(set) var changeCount: Int
    private(set) var commitCount = 1
    private(set) var mark: (any Sendable)?
    /// It is told alone, because it says whom not to tell, or changes the schema.
    private(set) var isBarrier: Bool
    private(set) var hasSchemaChanges: Bool
    /// What it did is not known any more.
    private(set) var isLost = false

    init(_ commit: Commit) {
        version = commit.version
        changes = [commit.changes]
        changeCount = commit.changes.count
        mark = commit.mark
        hasSchemaChanges = commit.changes.contains { change in
            if case .schema = change { return true }
            return false
        }
        isBarrier = commit.mark != nil || hasSchemaChanges
    }

    mutating func join(_ next: WaitingCommit) {
        version = next.version
        changes += next.changes
        changeCount += next.changeCount
        commitCount += next.commitCount
        hasSchemaChanges = hasSchemaChanges || next.hasSchemaChanges
        isBarrier = isBarrier || next.isBarrier
        isLost = isLost || next.isLost
        if isLost { forget() }
    }

    /// As `join`, for commits that should be told alone and are too many: readers begin anew behind them, so that nobody hears
    /// of what somebody wanted to be silent about.
    mutating func merge(_ next: WaitingCommit) {
        join(next)
        mark = nil
        forget()
    }

    mutating func forget() {
        isLost = true
        changes = []
        changeCount = 0
    }
}

/// What waits for the thread of a hub.
struct ObservationInbox {
    enum Item {
        case commit(WaitingCommit)
        /// Runs when all commits up to a version were told.
        case call(atLeast: UInt64, @Sendable () -> Void)
    }

    private(set) var items: [Item] = []
    private(set) var commitCount = 0
    private var changeCount = 0
    /// Items that are commits: each holds its version.
    private var versionCount = 0
    var isClosed = false
    var hasThread = false
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

    /// Calls that wait behind the last commit find a later version than they asked for, which is as good.
    private mutating func mergeIntoLast(_ commit: WaitingCommit) -> Bool {
        for index in items.indices.reversed() {
            guard case .commit(var last) = items[index] else { continue }
            last.merge(commit)
            items[index] = .commit(last)
            return true
        }
        return false
    }

    mutating func add(_ call: @escaping @Sendable () -> Void, atLeast version: UInt64) {
        items.append(.call(atLeast: version, call))
    }

    /// Everything, in order.
    mutating func take() -> [Item] {
        defer { (items, commitCount, changeCount, versionCount) = ([], 0, 0, 0) }
        return items
    }
}
