// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One commit, or several that are told as one, on the way to the observers.
struct WaitingCommit {
    private(set) var version: Version
    private(set) var changes: [[ObjectChange]]
    private(set) var changeCount: Int
    private(set) var commitCount = 1
    private(set) var mark: CommitMark?
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
