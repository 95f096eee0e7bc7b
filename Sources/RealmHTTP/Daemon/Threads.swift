// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc

/// A thread of the operating system: work that blocks stays off the cooperative pool.
package enum Threads {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a detached thread called `name` (at most 15 characters are kept).
    package static func spawn(_ name: String, stackBytes: Int = 4 << 20, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, stackBytes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        // The new thread takes the reference over.
        let context = Unmanaged.passRetained(Start(name, body)).toOpaque()
        let failure = pthread_create(&thread, &attributes, { context in
            guard let context else { return nil }
            let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
            realm_rest_name_thread(start.name)
            start.body()
            return nil
        }, context)
        precondition(failure == 0, "cannot start a thread: error \(failure)")
    }

    package static func sleep(seconds: Double) { usleep(UInt32(max(0, min(seconds, 4000)) * 1_000_000)) }

    /// Processors this process may use.
    package static let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}

/// A lock with a condition, for the few places where a thread has to wait for another.
///
/// `@unchecked Sendable`: the state is only reached with the mutex held.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Changes the state and wakes one waiter.
    package func signal<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        defer { pthread_cond_signal(condition) }
        return try body(&state)
    }

    /// Changes the state and wakes all waiters.
    package func broadcast<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        defer { pthread_cond_broadcast(condition) }
        return try body(&state)
    }

    /// Waits until `take` returns something, or until `deadline` (then nil).
    package func wait<Result>(until deadline: Instant = .distantFuture, _ take: (inout State) -> Result?) -> Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = take(&state) { return result }
            if deadline == .distantFuture {
                pthread_cond_wait(condition, mutex)
                continue
            }
            guard Instant.now() < deadline else { return nil }
            var time = timespec(
                tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
            pthread_cond_timedwait(condition, mutex, &time)
        }
    }
}
