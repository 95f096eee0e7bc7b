// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Threads that help with long scans and streams: one less than there are processors, which all queries share.
///
/// A query takes the helpers that are free, and scans alone when there are none, so it never waits for another query. Helpers run
/// with a lower priority than the threads that answer requests: a short request that comes in meanwhile takes the processor from
/// them. A query does not wait for its helpers either: it does the parts itself that they have not finished when there is nothing
/// else to do.
package final class ScanHelpers: Sendable {
    /// The helpers of the process.
    package static let shared = ScanHelpers(limit: min(Threads.processorCount - 1, 15))

    /// The state that threads share.
    private struct State: Sendable {
        /// The jobs that no thread has begun; each has a thread that is about to.
        var jobs: [@Sendable () -> Void] = []
        /// The number of started threads.
        var threads = 0
        /// The number of threads with a job.
        var busy = 0
    }

    /// The greatest number of threads.
    let limit: Int
    /// The jobs and the numbers of threads.
    private let monitor = Monitor(State(), rank: .leaf)

    /// Makes helpers, whose threads start when they are first needed.
    package init(limit: Int) { self.limit = limit }

    /// The number of helpers with a job.
    package var busy: Int { monitor.withLock { $0.busy } }

    /// Gives a job to helpers that are free, and returns at once.
    ///
    /// - Parameters:
    ///   - count: The greatest number of helpers that are of use.
    ///   - job: The work of each helper.
    /// - Returns: The number of helpers that do it.
    @discardableResult package func begin(_ count: Int, _ job: @escaping @Sendable () -> Void) -> Int {
        let (taken, missing) = monitor.withLock { state -> (Int, Int) in
            let taken = max(0, min(count, limit - state.busy))
            state.busy += taken
            let missing = max(0, state.busy - state.threads)
            state.threads += missing
            return (taken, missing)
        }
        guard taken > 0 else { return 0 }
        var failed = 0
        for _ in 0..<missing where !start() { failed += 1 }
        monitor.broadcast { state in
            state.threads -= failed
            state.busy -= failed
            state.jobs.append(contentsOf: repeatElement(job, count: taken - failed))
        }
        return taken - failed
    }

    /// Starts a thread that takes jobs for as long as the process lives; false when the system has none.
    private func start() -> Bool {
        do throws(Threads.Failure) {
            try Threads.start("scan") { [monitor] in
                // Lower than workers, which have scans that wait for nothing but them.
                Threads.lowerPriority(by: 15)
                Threads.letOthersIn()
                while let job = monitor.wait({ $0.jobs.popLast() }) {
                    job()
                    monitor.withLock { $0.busy -= 1 }
                }
            }
            return true
        } catch {
            return false
        }
    }
}
