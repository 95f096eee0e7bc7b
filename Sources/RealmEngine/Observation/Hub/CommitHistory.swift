// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What commits did that passive targets were not led over: what was done, not the versions that came of it, which would
/// keep all that was written over in the file.
struct CommitHistory {
    private struct Entry {
        let version: UInt64
        let changes: [[ObjectChange]]
        let changeCount: Int
    }

    private var entries: [Entry] = []
    private(set) var changeCount = 0
    /// When the oldest of them came.
    private(set) var since: Instant?

    var isEmpty: Bool { entries.isEmpty }
    var commitCount: Int { entries.count }

    mutating func append(_ commit: WaitingCommit) {
        if since == nil { since = Instant.now() }
        changeCount += commit.changeCount
        entries.append(Entry(version: commit.version.token.version, changes: commit.changes, changeCount: commit.changeCount))
    }

    /// What was done after a version.
    func changes(after version: UInt64) -> [[ObjectChange]] {
        entries.filter { $0.version > version }.flatMap(\.changes)
    }

    mutating func drop(upTo version: UInt64) {
        entries.removeAll { $0.version <= version }
        changeCount = entries.reduce(0) { $0 + $1.changeCount }
        if entries.isEmpty { since = nil }
    }
}
