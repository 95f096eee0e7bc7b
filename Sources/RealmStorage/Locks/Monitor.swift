// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A lock with a condition, for the few places where a thread has to wait for another. No other
/// lock may be held while it waits.
///
/// `@unchecked Sendable`: the state is only reached with the mutex held.
@safe package final class Monitor<State>: @unchecked Sendable {
    /// The lock of the operating system, at an address that does not change.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The condition that waiters sleep on, at an address that does not change.
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// The state that the lock guards.
    private var state: State
    /// The rank of the lock in the order of locks.
    private let rank: LockRank

    /// Makes a lock over `state`. Use the rank `leaf` unless another lock is taken under it.
    package init(_ state: State, rank: LockRank = .leaf) {
        self.state = state
        self.rank = rank
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe condition = .allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Takes the lock; debug builds check the order first.
    private func lock() {
        #if DEBUG
        HeldLocks.enter(rank)
        #endif
        unsafe pthread_mutex_lock(mutex)
    }

    /// Releases the lock; debug builds record that the thread does not hold it any more.
    private func unlock() {
        unsafe pthread_mutex_unlock(mutex)
        #if DEBUG
        HeldLocks.leave(rank)
        #endif
    }

    /// Runs `body` with the state while the lock is held, without waking a waiter; its errors are
    /// rethrown.
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body(&state)
    }

    /// Runs `body` with the state while the lock is held, and wakes one waiter.
    package func signal<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        defer { unsafe pthread_cond_signal(condition) }
        return try body(&state)
    }

    /// Runs `body` with the state while the lock is held, and wakes all waiters.
    package func broadcast<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        defer { unsafe pthread_cond_broadcast(condition) }
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
            if deadline.isDistantFuture {
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            guard Instant.now() < deadline else { return nil }
            var time = timespec(
                tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
            unsafe pthread_cond_timedwait(condition, mutex, &time)
        }
    }
}
