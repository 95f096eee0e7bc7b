// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What is done once when a realm was closed. Any thread may use it.
final class ClosingAction: Sendable {
    /// The action; nil when there is none, and after it was taken.
    private let stored = RankedMutex<(@Sendable () -> Void)?>(.leaf, nil)

    func set(_ action: @escaping @Sendable () -> Void) { stored.withLock { $0 = action } }

    /// Returns the action, and leaves none.
    func take() -> (@Sendable () -> Void)? {
        stored.withLock { stored in
            defer { stored = nil }
            return stored
        }
    }
}

extension Database {
    /// Sets what is done when the file was closed, on the thread that closes it, which may wait. Whoever opened the realm calls it
    /// before anybody else has it.
    package func whenClosed(_ action: @escaping @Sendable () -> Void) { closing.set(action) }
}
