// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// Threads for work that would keep a daemon's thread too long: scans, large pages, streams.
///
/// One client never has all of them: whoever sends slow requests leaves threads for the others, who take turns with him
/// (`WorkerTurns`). A thread is made when a job could run and none rests, and then stays.
package final class WorkerPool: Sendable {
    package typealias Job = @Sendable () -> Void

    /// The client of what the server does for itself.
    static let server = ""

    /// How much there may be of everything.
    package struct Size: Sendable {
        package var threads: Int
        package var threadsPerClient: Int
        /// Jobs that wait for a thread.
        package var queue: Int
        package var queuePerClient: Int

        /// Bounds for all clients together, and for each.
        package init(threads: Int, threadsPerClient: Int, queue: Int, queuePerClient: Int) {
            self.threads = threads
            self.threadsPerClient = threadsPerClient
            self.queue = queue
            self.queuePerClient = queuePerClient
        }

        /// The workers of the main listener.
        package init(_ limits: Limits) {
            self.init(
                threads: limits.workers, threadsPerClient: limits.workersPerPrincipal, queue: limits.workerQueue,
                queuePerClient: limits.workerQueuePerPrincipal)
        }
    }

    /// The workers of a server with these limits.
    package convenience init(_ limits: Limits) { self.init(name: "worker", Size(limits)) }

    private struct State {
        var turns: WorkerTurns
        var threads = 0
        /// Threads that wait for a job.
        var resting = 0
        var isClosed = false
    }

    private let name: String
    private let size: Size
    private let monitor: Monitor<State>
    private let activity = WorkerActivity()

    /// A pool without threads; `name` is what the system shows them as.
    package init(name: String, _ size: Size) {
        self.name = name
        self.size = size
        monitor = Monitor(State(turns: WorkerTurns(size)), rank: .workers)
    }

    /// Makes a first thread, so that a machine that has none to give is known at once.
    func start() throws(Threads.Failure) {
        try monitor.withLock { state throws(Threads.Failure) in try addThread(&state) }
    }

    /// Queues a job of a client; false when too many are waiting, the pool is closed, or no thread can be made for it.
    package func submit(for client: String, _ job: @escaping Job) -> Bool { add(job, client, isAdmitted: false) }

    /// Queues the next step of something that was admitted before; refused only when the pool is closed.
    package func submitContinuation(for client: String, _ job: @escaping Job) -> Bool { add(job, client, isAdmitted: true) }

    /// Whether a client has jobs that wait or run.
    package func isBusy(for client: String) -> Bool {
        guard activity.count > 0 else { return false }
        return monitor.withLock { $0.turns.has(client) }
    }

    /// Jobs that no thread has begun yet.
    package var waiting: Int { monitor.withLock { $0.turns.waiting } }

    /// Threads that were made.
    package var threadCount: Int { monitor.withLock { $0.threads } }

    /// Drops what is waiting and lets the threads end.
    package func close() {
        // What the jobs hold goes after the lock is open again.
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

    private func add(_ job: @escaping Job, _ client: String, isAdmitted: Bool) -> Bool {
        monitor.signal { state in
            guard !state.isClosed, hasThread(&state), state.turns.add(job, of: client, isAdmitted: isAdmitted) else {
                return false
            }
            activity.add(1)
            if state.turns.startable > state.resting, state.threads < size.threads {
                // Without one more, the job waits for those that there are.
                try? addThread(&state)
            }
            return true
        }
    }

    private func hasThread(_ state: inout State) -> Bool {
        if state.threads == 0 { try? addThread(&state) }
        return state.threads > 0
    }

    private func addThread(_ state: inout State) throws(Threads.Failure) {
        try Threads.start("\(name)-\(state.threads)") { [monitor, activity] in WorkerPool.run(monitor, activity) }
        state.threads += 1
    }

    private static func run(_ monitor: Monitor<State>, _ activity: WorkerActivity) {
        while let (client, job) = next(monitor) {
            HeldLocks.assertNone()
            job()
            // The share of this client is free again, which may let a job run that nobody could take before.
            monitor.withLock { $0.turns.finish(client) }
            activity.subtract(1)
        }
    }

    private static func next(_ monitor: Monitor<State>) -> (client: String, job: Job)? {
        monitor.withLock { $0.resting += 1 }
        return monitor.wait { state -> (client: String, job: Job)?? in
            let taken = state.turns.take()
            guard taken != nil || state.isClosed else { return nil }
            state.resting -= 1
            return .some(taken)
        } ?? nil
    }
}
