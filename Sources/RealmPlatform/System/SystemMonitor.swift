// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The lock and the condition of the operating system, which `Monitor` is made of.
///
/// `@unchecked Sendable`: both are made for use by several threads; their addresses never change.
@safe struct SystemMonitor: ~Copyable, @unchecked Sendable {
    /// The lock, at an address that does not change.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The condition that waiters sleep on, at an address that does not change.
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Makes a lock that no thread holds, and a condition that no thread waits for. Deadlines are those of the monotonic clock.
    init() {
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

    /// Takes the lock, which the thread must not hold yet.
    func lock() { unsafe pthread_mutex_lock(mutex) }

    /// Releases the lock, which the thread holds.
    func unlock() { unsafe pthread_mutex_unlock(mutex) }

    /// Wakes one thread that waits.
    func signal() { unsafe pthread_cond_signal(condition) }

    /// Wakes all threads that wait.
    func broadcast() { unsafe pthread_cond_broadcast(condition) }

    /// Releases the lock, sleeps until the thread is woken or the deadline is reached, and takes the
    /// lock again. It may also return for no reason.
    func wait(until deadline: Instant) {
        guard !deadline.isDistantFuture else {
            unsafe pthread_cond_wait(condition, mutex)
            return
        }
        var time = timespec(
            tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        unsafe pthread_cond_timedwait(condition, mutex, &time)
    }
}
