// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One commit, or several that are told as one, on the way to the observers.
struct WaitingCommit {
    private(set) var version: Database.Version
    private(set) var changes: [[ObjectChange]]
    private(set) var changeCount: Int
    private(set) var commitCount = 1
    let mark: (any Sendable)?
    /// It is told alone, because it says whom not to tell, or changes the schema.
    let isBarrier: Bool
    let hasSchemaChanges: Bool
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
        isLost = isLost || next.isLost
        if isLost { forget() }
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
        } else {
            items.append(.commit(commit))
        }
        commitCount += 1
    }

    mutating func add(_ call: @escaping @Sendable () -> Void, atLeast version: UInt64) {
        items.append(.call(atLeast: version, call))
    }

    /// Everything, in order.
    mutating func take() -> [Item] {
        defer { (items, commitCount, changeCount) = ([], 0, 0) }
        return items
    }
}
