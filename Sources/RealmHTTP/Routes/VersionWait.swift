// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// Waits for a version without a thread: for the commit, or an alarm.
final class VersionWait: Sendable {
    private let action: @Sendable () -> Void
    private let token = RankedMutex<Int?>(.leaf, nil)
    private let isOver = Atomic<Bool>(false)

    /// A wait that ends with `action`, which is called once, on whatever thread noticed the end.
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    /// Waits until `database` has a version of at least `wanted`, but no longer than until `deadline`. Returns at once.
    func begin(_ wanted: UInt64, _ database: Database, _ alarm: Alarm, until deadline: Instant) {
        let observer = database.commits.add { [self] commit in
            if commit.version.token.version >= wanted { end(database) }
        }
        token.withLock { $0 = observer }
        alarm.set(at: deadline) { [self] in end(database) }
        // It may have come in between.
        if database.current.token.version >= wanted { end(database) }
    }

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
