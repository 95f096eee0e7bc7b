// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Finds realms that are to be compacted, at moments at which nothing is written to them.
///
/// The caretaker's thread asks at intervals; the value is used on that thread only.
struct QuietMoments {
    /// What was seen of a realm.
    private struct Seen {
        /// The newest version.
        var version: UInt64
        /// The instant from which on it has been the newest, or the next attempt is due.
        var since: Instant
    }

    /// How many seconds nothing must have been written.
    private static let quietSeconds = 5.0
    /// How many seconds pass before a compaction that failed is tried again.
    private static let retrySeconds = 60.0

    /// What was seen last, by the epoch of the realm.
    private var seen: [ByteText: Seen] = [:]

    /// Returns the realms that are to be compacted now.
    ///
    /// - Parameter databases: All open realms; what is known of others is forgotten.
    mutating func due(among databases: [Database], _ now: Instant = .now()) -> [Database] {
        var next: [ByteText: Seen] = [:]
        var due: [Database] = []
        for database in databases where database.compactsItself {
            let version = database.current.token.version
            var state = seen[database.epoch.text] ?? Seen(version: version, since: now)
            if state.version != version { state = Seen(version: version, since: now) }
            let isQuiet = now >= state.since.adding(seconds: QuietMoments.quietSeconds)
            if isQuiet, database.pendingWrites == 0, database.openTransaction == nil, database.wantsCompaction {
                due.append(database)
                state.since = now.adding(seconds: QuietMoments.retrySeconds)
            }
            next[database.epoch.text] = state
        }
        seen = next
        return due
    }
}
