// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A lock with a condition, for the few places where a thread has to wait for another. Nothing else is locked while it waits.
///
/// `@unchecked Sendable`: the state is only reached with the mutex held.
@safe package final class Monitor<State>: @unchecked Sendable {
    /// The lock of the operating system, at an address that does not change.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// What waiters sleep on.
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// The guarded state.
    private var state: State
    /// Where the lock is in the order of locks.
    private let rank: LockRank

    /// A lock over `state`. Take the rank `leaf` unless another lock is taken under it.
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

    /// Gives the lock up.
    private func unlock() {
        unsafe pthread_mutex_unlock(mutex)
        #if DEBUG
        HeldLocks.leave(rank)
        #endif
    }

    /// Runs `body` with the state while the lock is held. No waiter is woken.
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body(&state)
    }

    /// Changes the state and wakes one waiter.
    package func signal<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        defer { unsafe pthread_cond_signal(condition) }
        return try body(&state)
    }

    /// Changes the state and wakes all waiters.
    package func broadcast<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        defer { unsafe pthread_cond_broadcast(condition) }
        return try body(&state)
    }

    /// Waits until `take` returns something, or until `deadline` (then nil).
    ///
    /// Other threads change the state by `signal` or `broadcast`, after which `take` is asked again. It may be asked without
    /// need, so it must not rely on being the first to see a change. No other lock may be held.
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
