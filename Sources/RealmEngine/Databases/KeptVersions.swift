// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Keeps the versions of the last seconds, so that commits overwrite nothing that readers on other nodes may still read there.
///
/// The space that a commit may overwrite depends on the oldest version in use alone. So not every version is kept, but one of
/// each eighth of the time, a little longer than it has to be: ten at most, however fast commits are.
final class KeptVersions: Sendable {
    private struct Entry {
        let version: Version
        /// When a newer one took its place.
        let since: Instant
    }

    /// The versions, as the lock guards them.
    private struct State {
        /// The versions, the oldest first.
        var entries: [Entry] = []
        /// Whether a timer is set that drops the oldest.
        var hasTimer = false
        /// Whether nothing is kept any more.
        var isStopped = false
    }

    /// The parts of the time of which one version each is kept.
    private static let parts = 8.0
    /// The retention of a version after a newer one took its place, in seconds.
    private let seconds: Double
    /// The maximum number of commits that the oldest version may lag behind.
    private let maximumCommits: UInt64
    /// The versions; the lock is a leaf.
    private let state = RankedMutex(.leaf, State())

    /// Makes an object that keeps nothing yet.
    ///
    /// - Parameters:
    ///   - seconds: The retention of a version after a newer one took its place.
    ///   - maximumCommits: The maximum number of commits that the oldest version may lag behind, which bounds the growth of the
    ///     file.
    init(seconds: Double, maximumCommits: Int) {
        self.seconds = seconds
        self.maximumCommits = UInt64(clamping: maximumCommits)
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Keeps a version that was the newest until now.
    func keep(_ version: Version, _ now: Instant = .now()) {
        let (dropped, wantsTimer) = state.withLock { state -> ([Entry], Bool) in
            guard !state.isStopped else { return ([], false) }
            let newest = version.token.version + 1
            let dropped = drop(&state) { isOver($0, now) || newest - $0.version.token.version > maximumCommits }
            if let last = state.entries.last, now.seconds(since: last.since) < seconds / KeptVersions.parts {
                return (dropped, false)
            }
            state.entries.append(Entry(version: version, since: now))
            defer { state.hasTimer = true }
            return (dropped, !state.hasTimer)
        }
        withExtendedLifetime(dropped) {}
        if wantsTimer { setTimer(now) }
    }

    /// Drops all versions, and keeps none from here on.
    func stop() {
        let dropped = state.withLock { state in
            state.isStopped = true
            return drop(&state) { _ in true }
        }
        withExtendedLifetime(dropped) {}
    }

    /// Whether a version was kept for long enough: for all versions up to the one that is kept next.
    private func isOver(_ entry: Entry, _ now: Instant) -> Bool {
        now.seconds(since: entry.since) > seconds * (1 + 1 / KeptVersions.parts)
    }

    /// Removes the versions for which a condition holds, and returns them so that they are released without the lock.
    private func drop(_ state: inout State, _ isOver: (Entry) -> Bool) -> [Entry] {
        let dropped = state.entries.filter(isOver)
        if !dropped.isEmpty { state.entries.removeAll(where: isOver) }
        return dropped
    }

    /// Has versions dropped in time when no commit does it.
    private func setTimer(_ now: Instant) {
        TimerQueue.engine.set(at: now.adding(seconds: seconds * (1 + 2 / KeptVersions.parts))) { [weak self] in self?.trim() }
    }

    /// Drops what was kept for long enough.
    private func trim() {
        let now = Instant.now()
        let (dropped, isEmpty) = state.withLock { state in
            let dropped = drop(&state) { isOver($0, now) }
            state.hasTimer = !state.entries.isEmpty
            return (dropped, state.entries.isEmpty)
        }
        withExtendedLifetime(dropped) {}
        if !isEmpty { setTimer(now.earlier(bySeconds: seconds)) }
    }
}
