// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The changes of the commits that passive targets were not advanced over yet.
///
/// It keeps the changes and not the versions they led to: keeping versions would keep all overwritten nodes in the file.
struct CommitHistory {
    /// The changes of one round: of one commit, or of several that were delivered together.
    private struct Entry {
        /// The version that the changes led to.
        let version: UInt64
        /// The changes of each of its commits, oldest first.
        let changes: [[ObjectChange]]
        /// The number of changes in `changes`.
        let changeCount: Int
    }

    /// The rounds that some target has not taken part in, oldest first.
    private var entries: [Entry] = []
    /// The number of changes in all entries.
    private(set) var changeCount = 0
    /// The last version up to which changes were removed, as all later ones are kept; the greatest number for none.
    private var start = UInt64.max
    /// The instant at which the oldest entry was added; nil when there is none.
    private(set) var since: Instant?

    /// Whether no target is behind the present position.
    var isEmpty: Bool { entries.isEmpty }
    /// The number of rounds that passive targets have not taken part in.
    var commitCount: Int { entries.count }

    /// Adds the commit of a round in which not all targets were advanced.
    mutating func append(_ commit: WaitingCommit) {
        if since == nil { since = Instant.now() }
        changeCount += commit.changeCount
        entries.append(Entry(version: commit.version.token.version, changes: commit.changes, changeCount: commit.changeCount))
    }

    /// Returns the changes after a version, for a target that is at this version, up to a later one.
    ///
    /// - Complexity: Linear in the number of entries.
    func changes(after version: UInt64, upTo end: UInt64 = .max) -> [[ObjectChange]] {
        entries.filter { $0.version > version && $0.version <= end }.flatMap(\.changes)
    }

    /// Whether all changes after a version are kept.
    func covers(_ version: UInt64) -> Bool { version >= min(start, entries.first?.version ?? .max) }

    /// Removes all changes but the most recent ones, because no target needs them yet. One may have its contents read at the
    /// version that others have just reached.
    mutating func keepRecent() {
        if changeCount > CommitHistory.recentChanges { self = CommitHistory() }
        let excess = entries.count - CommitHistory.recentEntries
        if excess > 0 { drop(upTo: entries[excess - 1].version) }
    }

    /// The maximum numbers of kept entries and changes that no target needs.
    private static let (recentEntries, recentChanges) = (16, 10_000)

    /// Removes the changes up to a version, because no target is at an earlier one.
    mutating func drop(upTo version: UInt64) {
        guard let first = entries.first, first.version <= version else { return }
        start = version
        entries.removeAll { $0.version <= version }
        changeCount = entries.reduce(0) { $0 + $1.changeCount }
        if entries.isEmpty { since = nil }
    }
}
