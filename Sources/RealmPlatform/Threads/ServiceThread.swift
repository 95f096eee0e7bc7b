// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The thread of a part of the server: it is started once, asked to stop, and awaited.
///
/// Any thread may call everything. `isStopped` takes no lock, so it may be read under one.
package final class ServiceThread: Sendable {
    private let name: String
    private let stackBytes: Int
    private let stopping = Atomic(false)
    /// Whether the thread was started and has not ended.
    private let isRunning = Monitor(false)

    /// Prepares a thread; see `Threads.start`.
    package init(_ name: String, stackBytes: Int = 512 << 10) {
        self.name = name
        self.stackBytes = stackBytes
    }

    /// Whether `stop` was called.
    package var isStopped: Bool { stopping.load(ordering: .acquiring) }

    /// Starts the thread, which ends when `work` returns. It does nothing while the thread runs, and after `stop`.
    ///
    /// - Throws: `Threads.Failure` when the system provides no thread.
    package func start(_ work: @escaping @Sendable () -> Void) throws(Threads.Failure) {
        try isRunning.withLock { running throws(Threads.Failure) in
            guard !running, !isStopped else { return }
            try Threads.start(name, stackBytes: stackBytes) { [isRunning] in
                work()
                isRunning.broadcast { $0 = false }
            }
            running = true
        }
    }

    /// Has the thread end, and wakes it from `rest`. It does not wait for the end.
    package func stop() { isRunning.broadcast { _ in stopping.store(true, ordering: .releasing) } }

    /// Waits for an instant on the thread itself, or until `stop` is called; returns whether it was.
    package func rest(until end: Instant) -> Bool { isRunning.wait(until: end) { _ in isStopped ? true : nil } ?? false }

    /// Waits until the thread does not run, or until an instant; returns whether it does not run.
    @discardableResult
    package func waitForEnd(until end: Instant = .distantFuture) -> Bool {
        isRunning.wait(until: end) { $0 ? nil : true } ?? false
    }
}
