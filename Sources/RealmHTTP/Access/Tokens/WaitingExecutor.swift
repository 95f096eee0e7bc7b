// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Runs asynchronous work on the thread that waits for it.
///
/// The threads of Swift's tasks are as many as there are processors, so a thread that waited for one of them could wait
/// for ever where others do the same. Here nobody else is needed.
final class WaitingExecutor: TaskExecutor {
    /// What there is to do.
    private struct State {
        /// The steps of the work, in their order.
        var jobs: [UnownedJob] = []
        /// Whether the work has ended.
        var hasEnded = false
    }

    private let monitor = Monitor(State())

    /// Makes an executor; `run` does.
    private init() {}

    /// Takes the next step of the work.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.broadcast { $0.jobs.append(job) }
    }

    /// Does asynchronous work and waits until it has ended.
    ///
    /// - Parameter work: The work, whose steps run on the calling thread.
    /// - Returns: Its result.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result {
        let executor = WaitingExecutor()
        let end = Monitor<Result?>(nil)
        Task(executorPreference: executor) {
            let result = await work()
            end.broadcast { $0 = result }
            executor.monitor.broadcast { $0.hasEnded = true }
        }
        while let job = executor.next() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
        while true {
            // It is there already, but for the compiler.
            if let result = end.wait({ $0 }) { return result }
        }
    }

    /// Waits for the next step; nil when there are no more.
    private func next() -> UnownedJob? {
        let job = monitor.wait { state -> UnownedJob?? in
            if !state.jobs.isEmpty { return .some(state.jobs.removeFirst()) }
            return state.hasEnded ? .some(nil) : nil
        }
        return job ?? nil
    }
}
