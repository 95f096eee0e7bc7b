// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Threads for work that would keep a daemon's thread too long: scans, large pages, streams.
package final class WorkerPool: Sendable {
    package typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        /// Index of the next job in `jobs`.
        var head = 0
        var isClosed = false

        var waiting: Int { jobs.count - head }

        mutating func take() -> Job? {
            guard head < jobs.count else { return nil }
            let job = jobs[head]
            head += 1
            // Shift only when half of the array is behind us, so that taking stays constant on average.
            if head * 2 > jobs.count {
                jobs.removeFirst(head)
                head = 0
            }
            return job
        }
    }

    private let monitor = Monitor(State(), rank: .workers)
    private let queueLimit: Int

    package init(name: String, threads: Int, queueLimit: Int) {
        self.queueLimit = queueLimit
        for index in 0..<threads {
            Threads.spawn("\(name)-\(index)") { [monitor] in WorkerPool.run(monitor) }
        }
    }

    /// Queues a job; false when too many are waiting or the pool is closed.
    package func submit(_ job: @escaping Job) -> Bool {
        monitor.signal { state in
            guard !state.isClosed, state.waiting < queueLimit else { return false }
            state.jobs.append(job)
            return true
        }
    }

    /// Queues the next step of something that was admitted before; refused only when the pool is closed.
    package func submitContinuation(_ job: @escaping Job) -> Bool {
        monitor.signal { state in
            guard !state.isClosed else { return false }
            state.jobs.append(job)
            return true
        }
    }

    /// Jobs that no thread has begun yet.
    package var waiting: Int { monitor.withLock { $0.waiting } }

    /// Drops what is waiting and lets the threads end.
    package func close() {
        // What the jobs hold goes after the lock is open again.
        let dropped = monitor.broadcast { state -> [Job] in
            defer {
                state.isClosed = true
                state.jobs = []
                state.head = 0
            }
            return state.jobs
        }
        withExtendedLifetime(dropped) {}
    }

    private static func run(_ monitor: Monitor<State>) {
        while let job = monitor.wait({ state -> Job?? in
            if let job = state.take() { return .some(job) }
            return state.isClosed ? .some(nil) : nil
        }) ?? nil {
            HeldLocks.assertNone()
            job()
        }
    }
}
