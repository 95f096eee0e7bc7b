// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// A wait for a version that occupies no thread: it ends with the commit, or with a timer.
///
/// It serves `Realm-Min-Version`. The observer of commits keeps it alive until its end.
final class VersionWait: Sendable {
    /// Continues the waiting request; called once, when the wait ends.
    private let action: @Sendable () -> Void
    /// The registration as observer of commits; nil before it begins and after it ended.
    private let token = RankedMutex<Int?>(.leaf, nil)
    /// Whether the action was called, so that commit and timer together call it only once.
    private let isOver = Atomic<Bool>(false)

    /// Creates a wait that has not begun.
    ///
    /// - Parameter action: Called once, on the thread of the writer or of the timer, or on the
    ///   caller's own; it must be brief.
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    /// Begins the wait and returns at once. When the version is there already, the action is called
    /// before this returns.
    ///
    /// - Parameters:
    ///   - wanted: The commit number that the newest version must have at least.
    ///   - database: The open realm.
    ///   - timers: The timer that ends the wait at the deadline.
    ///   - deadline: When the wait ends in any case.
    func begin(_ wanted: UInt64, _ database: Database, _ timers: TimerQueue, until deadline: Instant) {
        let observer = database.commits.add { [self] commit in
            if commit.version.token.version >= wanted { end(database) }
        }
        token.withLock { $0 = observer }
        timers.set(at: deadline) { [self] in end(database) }
        // The version may have been committed before the observer was added.
        if database.current.token.version >= wanted { end(database) }
    }

    /// Ends the wait: the observer is removed, and the first call also calls the action.
    private func end(_ database: Database) {
        let observer = token.withLock { token in
            defer { token = nil }
            return token
        }
        if let observer { database.commits.remove(observer) }
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        action()
    }
}
