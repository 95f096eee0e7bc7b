// SPDX-License-Identifier: Apache-2.0

/// A lock with a condition, for the few places where a thread has to wait for another. No other
/// lock may be held while it waits.
///
/// `@unchecked Sendable`: the state is only reached with the mutex held.
package final class Monitor<State>: @unchecked Sendable {
    /// The lock and the condition of the operating system.
    private let system = SystemMonitor()
    /// The state that the lock guards.
    private var state: State
    /// The rank of the lock in the order of locks.
    private let rank: LockRank

    /// Makes a lock over `state`. Use the rank `leaf` unless another lock is taken under it.
    package init(_ state: State, rank: LockRank = .leaf) {
        self.state = state
        self.rank = rank
    }

    /// Takes the lock; debug builds check the order first.
    private func lock() {
        #if DEBUG
        HeldLocks.enter(rank)
        #endif
        system.lock()
    }

    /// Releases the lock; debug builds record that the thread does not hold it any more.
    private func unlock() {
        system.unlock()
        #if DEBUG
        HeldLocks.leave(rank)
        #endif
    }

    /// Runs `body` with the state while the lock is held, without waking a waiter; its errors are rethrown.
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body(&state)
    }

    /// Runs `body` with the state while the lock is held, and wakes one waiter.
    package func signal<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        defer { system.signal() }
        return try body(&state)
    }

    /// Runs `body` with the state while the lock is held, and wakes all waiters.
    package func broadcast<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        defer { system.broadcast() }
        return try body(&state)
    }

    /// Waits until `take` returns a result, or until the deadline. No other lock may be held.
    ///
    /// Other threads change the state with `signal` or `broadcast`, after which `take` is called
    /// again. It may be called without a change, so it must not rely on being the first to see one.
    ///
    /// - Parameters:
    ///   - deadline: When to stop waiting.
    ///   - take: Returns a result if the state has one; called with the lock held.
    /// - Returns: The result, or nil at the deadline.
    package func wait<Result>(until deadline: Instant = .distantFuture, _ take: (inout State) -> Result?) -> Result? {
        HeldLocks.assertNone()
        lock()
        defer { unlock() }
        while true {
            if let result = take(&state) { return result }
            guard deadline.isDistantFuture || Instant.now() < deadline else { return nil }
            system.wait(until: deadline)
        }
    }
}
