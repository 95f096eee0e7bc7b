// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One commit, or several that are delivered as one, on the way to the observers.
///
/// It holds the version, so the file keeps that version until the round is over.
struct WaitingCommit {
    /// The last version of it.
    private(set) var version: Version
    /// What each commit did, oldest first; empty when it is lost.
    private(set) var changes: [[ObjectChange]]
    /// How many changes there are in `changes`.
    private(set) var changeCount: Int
    /// How many commits it stands for.
    private(set) var commitCount = 1
    /// What to do when its observers were notified.
    private(set) var mark: CommitMark?
    /// It is delivered by itself, because it has a mark or changes the schema.
    private(set) var isBarrier: Bool
    /// Whether tables or columns are others.
    private(set) var hasSchemaChanges: Bool
    /// What it did is not known any more.
    private(set) var isLost = false

    /// One commit.
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

    /// Adds the next commit, which is delivered together with this one.
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

    /// As `join`, for commits that should be delivered by themselves and are too many: readers read the contents again, so that
    /// no subscription is notified of a commit that was to be silent for it.
    mutating func merge(_ next: WaitingCommit) {
        join(next)
        mark = nil
        forget()
    }

    /// Forgets what it did: contents have to be read again.
    mutating func forget() {
        isLost = true
        changes = []
        changeCount = 0
    }
}
