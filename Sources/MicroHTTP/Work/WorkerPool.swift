// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// A pool of threads for work that would occupy a daemon's thread for too long: scans, large pages, streams, opening files.
///
/// Clients take turns (`WorkerTurns`), and one client never occupies all threads, so slow requests delay mostly their own
/// client. A thread is started when a job could run and no thread is idle, and then stays until the pool is closed. Jobs run
/// without any lock held. Any thread may call the pool.
package final class WorkerPool: Sendable {
    /// A piece of work, called once on a worker.
    package typealias Job = @Sendable () -> Void

    /// The client name for work that the server does for itself.
    package static let server = ""

    /// The limits of a pool of workers.
    package struct Size: Sendable {
        /// The maximum number of threads of the pool.
        package var threads: Int
        /// The maximum number of threads that one client may occupy.
        package var threadsPerClient: Int
        /// The maximum number of jobs that may wait for a thread.
        package var queue: Int
        /// The maximum number of jobs of one client that may wait for a thread.
        package var queuePerClient: Int

        /// Makes limits for all clients together, and for each.
        ///
        /// - Parameters:
        ///   - queue: The number of jobs that may wait.
        ///   - queuePerClient: The number of waiting jobs of one client.
        package init(threads: Int, threadsPerClient: Int, queue: Int, queuePerClient: Int) {
            self.threads = threads
            self.threadsPerClient = threadsPerClient
            self.queue = queue
            self.queuePerClient = queuePerClient
        }
    }

    /// The jobs and the number of threads of a pool, guarded by its monitor.
    private struct State {
        /// The jobs that wait for a thread, by client.
        var turns: WorkerTurns
        /// The number of threads that the pool has started.
        var threads = 0
        /// The number of threads of the pool that wait for a job.
        var resting = 0
        /// Whether the pool is closed, so that it takes no more jobs.
        var isClosed = false
    }

    /// The name of the threads, to which the system's list of threads adds a number.
    private let name: String
    private let size: Size
    private let monitor: Monitor<State>
    /// The number of jobs, which is readable without the lock of the pool.
    private let activity = WorkerActivity()

    /// Makes a pool without threads.
    ///
    /// - Parameters:
    ///   - name: The name of its threads, which the system shows with a number.
    ///   - size: Its limits.
    package init(name: String, _ size: Size) {
        self.name = name
        self.size = size
        monitor = Monitor(State(turns: WorkerTurns(size)), rank: .workers)
    }

    /// Starts a first thread, so that a machine that provides none is noticed before the server answers requests.
    ///
    /// - Throws: `Threads.Failure` when the system provides no thread.
    package func start() throws(Threads.Failure) {
        try monitor.withLock { state throws(Threads.Failure) in try addThread(&state) }
    }

    /// Queues a job.
    ///
    /// - Returns: False when too many jobs are waiting, the pool is closed, or no thread can be
    ///   started for it. The job is then never called.
    package func submit(for client: String, _ job: @escaping Job) -> Bool { add(job, client, isAdmitted: false) }

    /// Queues the next step of work that was admitted before, regardless of the number of waiting jobs.
    ///
    /// - Returns: False when the pool is closed or has no thread. The job is then never called.
    package func submitContinuation(for client: String, _ job: @escaping Job) -> Bool { add(job, client, isAdmitted: true) }

    /// Whether a client has jobs that wait or run. Takes the lock only if any client has.
    package func isBusy(for client: String) -> Bool {
        guard activity.count > 0 else { return false }
        return monitor.withLock { $0.turns.has(client) }
    }

    /// The number of jobs that wait for a thread.
    package var waiting: Int { monitor.withLock { $0.turns.waiting } }

    /// The number of threads that the pool has started.
    package var threadCount: Int { monitor.withLock { $0.threads } }

    /// Drops the waiting jobs and lets the threads end after the jobs that they run. Returns at once.
    package func close() {
        // The jobs are released after the lock, because that may release other objects.
        let dropped = monitor.broadcast { state -> WorkerTurns in
            defer {
                state.isClosed = true
                state.turns.removeAll()
            }
            activity.subtract(state.turns.waiting)
            return state.turns
        }
        withExtendedLifetime(dropped) {}
    }

    /// Queues a job, and starts a thread for it if all are busy and there may be more.
    private func add(_ job: @escaping Job, _ client: String, isAdmitted: Bool) -> Bool {
        monitor.signal { state in
            guard !state.isClosed, hasThread(&state), state.turns.add(job, of: client, isAdmitted: isAdmitted) else {
                return false
            }
            activity.add(1)
            if state.turns.startable > state.resting, state.threads < size.threads {
                // If that fails, the job waits for one of the existing threads.
                try? addThread(&state)
            }
            return true
        }
    }

    /// Whether there is a thread, after an attempt to start the first one.
    private func hasThread(_ state: inout State) -> Bool {
        if state.threads == 0 { try? addThread(&state) }
        return state.threads > 0
    }

    /// Starts one more thread of the pool. Called under the lock.
    private func addThread(_ state: inout State) throws(Threads.Failure) {
        try Threads.start("\(name)-\(state.threads)") { [monitor, activity] in WorkerPool.run(monitor, activity) }
        state.threads += 1
    }

    /// The loop of a thread: takes jobs and runs them until the pool is closed.
    private static func run(_ monitor: Monitor<State>, _ activity: WorkerActivity) {
        // Scans and exports take long, and short requests are served at the same time.
        Threads.lowerPriority(by: 10)
        Threads.letOthersIn()
        while let (client, job) = next(monitor) {
            HeldLocks.assertNone()
            job()
            // This client may occupy a thread again, so another of its jobs may be able to run.
            monitor.withLock { $0.turns.finish(client) }
            activity.subtract(1)
        }
    }

    /// Waits for a job whose turn it is; nil when the pool is closed.
    private static func next(_ monitor: Monitor<State>) -> (client: String, job: Job)? {
        monitor.withLock { $0.resting += 1 }
        return monitor.wait { state -> (client: String, job: Job)?? in
            let taken = state.turns.dequeue()
            guard taken != nil || state.isClosed else { return nil }
            state.resting -= 1
            return .some(taken)
        } ?? nil
    }
}

/// The number of jobs of a worker pool, readable without its lock.
///
/// The daemon's threads read it before they answer a read themselves: a client with jobs in the pool gets less of their time.
final class WorkerActivity: Sendable {
    /// The number of jobs of the pool that wait or run.
    private let value = Atomic<Int>(0)

    /// The number of jobs of the pool that wait or run. The value may be slightly out of date.
    package var count: Int { value.load(ordering: .relaxed) }

    /// Counts jobs that were queued for the workers.
    package func add(_ count: Int) { value.add(count, ordering: .relaxed) }
    /// Counts jobs of the workers that have ended or were dropped.
    package func subtract(_ count: Int) { value.subtract(count, ordering: .relaxed) }
}
