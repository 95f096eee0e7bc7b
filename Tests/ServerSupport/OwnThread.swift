// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import Testing

/// Runs the tests of a suite one after another on a thread of their own, from the beginning of the run.
///
/// Tests share as many threads as the machine has cores, and wait in a long line for them. A test that sleeps, or waits for a
/// server to notice something, holds up such a thread while it needs no core; and a serialized suite stands in the line anew for
/// every test, so that the last ones run alone when all others are through.
package struct OwnThread: SuiteTrait, TestScoping {
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let thread = SuiteThread(name: test.name)
        defer { thread.end() }
        try await withTaskExecutorPreference(thread) { try await function() }
    }
}

extension SuiteTrait where Self == OwnThread {
    /// For suites whose tests wait most of their time.
    package static var ownThread: OwnThread { OwnThread() }
}

/// One thread that does what it is given, in the order in which it was given.
private final class SuiteThread: TaskExecutor {
    /// Guards the state, and tells of its changes.
    private let condition = NSCondition()
    private nonisolated(unsafe) var jobs: [UnownedJob] = []
    private nonisolated(unsafe) var hasEnded = false

    init(name: String) {
        let thread = Thread { [self] in run() }
        thread.name = name
        thread.stackSize = 8 << 20
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            unsafe jobs.append(job)
            condition.signal()
        }
    }

    func end() {
        condition.withLock {
            unsafe hasEnded = true
            condition.signal()
        }
    }

    /// The next job; nil when there will be no more.
    private func next() -> UnownedJob? {
        condition.withLock {
            while unsafe jobs.isEmpty, unsafe !hasEnded { condition.wait() }
            return unsafe jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }

    private func run() {
        while let job = next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
