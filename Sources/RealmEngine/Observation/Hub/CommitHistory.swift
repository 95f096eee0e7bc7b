// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What commits did that passive targets were not advanced over: the changes, not the versions they led to, which would
/// keep all that was written over in the file.
struct CommitHistory {
    /// One commit, or several that are delivered as one.
    private struct Entry {
        /// The version that it led to.
        let version: UInt64
        /// What each of its commits did, oldest first.
        let changes: [[ObjectChange]]
        /// How many changes there are in `changes`.
        let changeCount: Int
    }

    /// Oldest first.
    private var entries: [Entry] = []
    /// How many changes there are in all.
    private(set) var changeCount = 0
    /// When the oldest of them came.
    private(set) var since: Instant?

    /// Whether passive targets are where the others are.
    var isEmpty: Bool { entries.isEmpty }
    /// How many rounds passive targets have not taken part in.
    var commitCount: Int { entries.count }

    /// Adds the commit of a round in which not all targets were advanced.
    mutating func append(_ commit: WaitingCommit) {
        if since == nil { since = Instant.now() }
        changeCount += commit.changeCount
        entries.append(Entry(version: commit.version.token.version, changes: commit.changes, changeCount: commit.changeCount))
    }

    /// What was done after a version.
    func changes(after version: UInt64) -> [[ObjectChange]] {
        entries.filter { $0.version > version }.flatMap(\.changes)
    }

    /// Forgets what was done up to a version, because no target is before it any more.
    mutating func drop(upTo version: UInt64) {
        entries.removeAll { $0.version <= version }
        changeCount = entries.reduce(0) { $0 + $1.changeCount }
        if entries.isEmpty { since = nil }
    }
}
