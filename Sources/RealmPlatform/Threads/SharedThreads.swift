// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Synchronization

/// Threads that many realms use by turns: a realm that has nothing to do has no thread.
///
/// Tasks begin in the order in which they were submitted, and the thread that rested last takes the next
/// one. A thread is started when no thread rests and the limit permits it, and ends after a time
/// without tasks. A task that may wait long for something outside, such as a client, does so inside
/// `occupying`, so that another thread may be started in its place. There is one of these for writers,
/// one for observers, one for records of other nodes, and one for signatures. All threads may use them; tasks run without any lock held.
package final class SharedThreads: Sendable {
    /// A piece of work, called once.
    package typealias Task = @Sendable () -> Void

    /// The tasks and threads, as the monitor guards them.
    private struct State {
        /// The tasks that wait for a thread.
        var tasks: Deque<Task> = []
        var threads = 0
        /// The number of threads that wait for a task.
        var resting = 0
        /// The number of threads whose tasks wait for something outside.
        var occupied = 0
    }

    /// The threads that apply writes. Most of their time they wait for the disk.
    package static let writers = SharedThreads(name: "writer", limit: 24)
    /// The threads that compute notifications for observers. They need the processors.
    package static let observers = SharedThreads(name: "observer", limit: max(4, min(Threads.processorCount, 16)))
    /// The threads that apply records of other nodes. Most of their time they wait for the disk.
    package static let followers = SharedThreads(name: "replica", limit: 16)
    /// The threads that verify signatures of tokens. They need the processors.
    package static let signatures = SharedThreads(name: "signature", limit: max(2, min(Threads.processorCount, 8)))

    /// The number of threads that may be occupied at the same time.
    package static let occupiedLimit = 256

    /// The state; resting threads wait for its changes.
    private let monitor = Monitor(State(), rank: .sharedThreads)
    /// The number of waiting tasks, which is read without the lock.
    private let waiting = Atomic(0)
    /// The name of the threads, to which the system's list of threads adds a number.
    private let name: String
    /// The number of threads, besides those that are occupied.
    private let limit: Int
    /// The time after which a thread without tasks ends.
    private let rest: Duration

    /// Makes threads for tasks of one kind; none is started yet.
    ///
    /// - Parameters:
    ///   - name: The name of the threads; at most 10 characters.
    ///   - limit: The number of threads, besides those that are occupied.
    ///   - rest: The time after which a thread without tasks ends.
    package init(name: String, limit: Int, rest: Duration = .seconds(30)) {
        self.name = name
        self.limit = limit
        self.rest = rest
    }

    /// The number of threads at present.
    package var threadCount: Int { monitor.withLock { $0.threads } }
    /// The number of tasks that wait for a thread.
    package var waitingCount: Int { waiting.load(ordering: .relaxed) }
    /// Whether tasks wait, so that a task that could continue should submit its rest instead.
    package var isCrowded: Bool { waitingCount > 0 }

    /// Adds a task, and starts a thread for it if all are busy and there may be more.
    ///
    /// - Throws: `Threads.Failure` when there is no thread and the system provides none; the task is never
    ///   called then.
    package func submit(_ task: @escaping Task) throws(Threads.Failure) {
        try monitor.signal { state throws(Threads.Failure) in
            do throws(Threads.Failure) {
                try addThread(&state, for: state.tasks.count + 1)
            } catch {
                guard state.threads > state.occupied else { throw error }
            }
            state.tasks.append(task)
            waiting.store(state.tasks.count, ordering: .relaxed)
        }
    }

    /// Runs a body that may wait long. Another thread may take the place of this one until it returns.
    ///
    /// - Returns: The result; nil when too many threads are occupied, and the body was not called.
    package func occupying<Result>(_ body: () -> Result) -> Result? {
        let isGranted = monitor.withLock { state -> Bool in
            guard state.occupied < SharedThreads.occupiedLimit else { return false }
            state.occupied += 1
            // If that fails, the tasks wait for one of the other threads.
            try? addThread(&state, for: state.tasks.count)
            return true
        }
        guard isGranted else { return nil }
        defer { monitor.withLock { $0.occupied -= 1 } }
        return body()
    }

    /// Starts one more thread if there are more tasks than resting threads, and the limit permits it.
    private func addThread(_ state: inout State, for taskCount: Int) throws(Threads.Failure) {
        guard taskCount > state.resting, state.threads < limit + state.occupied else { return }
        try Threads.start("\(name)-\(state.threads)") { [self] in run() }
        state.threads += 1
    }

    /// The loop of a thread: takes tasks until there is none for a while.
    private func run() {
        while let task = next() {
            HeldLocks.assertNone()
            task()
        }
    }

    /// Waits for a task; nil when the thread ends.
    private func next() -> Task? {
        monitor.withLock { $0.resting += 1 }
        let end = Instant.now().adding(rest)
        let task = monitor.wait(until: end) { [self] state -> Task?? in
            // After an occupied thread came back there may be one too many.
            if state.threads > limit + state.occupied { return .some(nil) }
            guard let task = state.tasks.popFirst() else { return nil }
            waiting.store(state.tasks.count, ordering: .relaxed)
            state.resting -= 1
            return task
        }
        if case .some(.some(let task)) = task { return task }
        return monitor.withLock { state in
            state.resting -= 1
            // A task may have arrived in that moment, for which no other thread was started.
            if let task = state.tasks.popFirst() {
                waiting.store(state.tasks.count, ordering: .relaxed)
                return task
            }
            state.threads -= 1
            return nil
        }
    }
}
