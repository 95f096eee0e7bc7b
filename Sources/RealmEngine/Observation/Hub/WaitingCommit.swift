// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One commit, or several that are delivered as one, on the way to the observers.
///
/// It refers to the version, so the file keeps that version until the round has ended.
struct WaitingCommit {
    /// The last version of its commits.
    private(set) var version: Version
    /// The changes of each commit, oldest first; empty when they were discarded.
    private(set) var changes: [[ObjectChange]]
    /// The number of changes in `changes`.
    private(set) var changeCount: Int
    /// The number of commits that this item represents.
    private(set) var commitCount = 1
    /// The actions that the writers requested for the time after observers were notified, with the versions of their commits. Several
    /// commits together have the first one for each listener.
    private(set) var marks: [(version: UInt64, mark: CommitMark)]
    /// Whether it is delivered in a round of its own, because it has a mark or changes the schema.
    private(set) var isBarrier: Bool
    /// Whether tables or columns have changed.
    private(set) var hasSchemaChanges: Bool
    /// Whether the changes were discarded.
    private(set) var isLost = false

    /// Makes the item of a single commit.
    init(_ commit: Commit) {
        version = commit.version
        changes = [commit.changes]
        changeCount = commit.changes.reduce(0) { $0 + $1.objectCount }
        marks = commit.mark.map { [(commit.version.token.version, $0)] } ?? []
        hasSchemaChanges = commit.changes.contains { change in
            if case .schema = change { return true }
            return false
        }
        if commit.hasUnknownChanges {
            hasSchemaChanges = !commit.version.snapshot.hasSameSchema(as: commit.previous.snapshot)
            isLost = true
        }
        isBarrier = commit.mark != nil || hasSchemaChanges
    }

    /// Returns the commit as a restricted principal sees it.
    ///
    /// - Parameters:
    ///   - from: The view of the version before it.
    ///   - to: The view of its version.
    ///   - clock: Limits the time.
    func shown(from: Version, to: Version, _ clock: EvaluationClock) -> WaitingCommit {
        var shown = self
        shown.version = to
        guard !isLost else { return shown }
        // Where the changes cannot be found out, or not in time, observers read their contents again.
        guard let visible = try? ScopedChanges(changes, from: from.snapshot, to: to.snapshot, clock).visible() else {
            shown.forget()
            return shown
        }
        shown.changes = visible
        shown.changeCount = visible.reduce(0) { $0 + $1.count }
        return shown
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

    /// Adds the next commit like `join`, even if one of them is a barrier, when the queue is full. After a change of the schema observers
    /// read their contents again.
    mutating func merge(_ next: WaitingCommit) {
        let listeners = listeners
        marks += next.marks.filter { !$0.mark.listeners.isSubset(of: listeners) }
        join(next)
        if hasSchemaChanges { forget() }
    }

    /// The listeners that the writers have named.
    var listeners: Set<ObjectIdentifier> { marks.reduce(into: []) { $0.formUnion($1.mark.listeners) } }

    /// Discards the changes, so that the contents of targets have to be read again.
    mutating func forget() {
        isLost = true
        changes = []
        changeCount = 0
    }
}
