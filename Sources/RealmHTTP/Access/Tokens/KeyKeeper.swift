// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The thread that looks at regular times whether keys have to be read again.
final class KeyKeeper: Sendable {
    /// The state of the thread.
    private struct State {
        /// Whether it runs.
        var isRunning = false
        /// Whether it is to end.
        var isStopped = false
    }

    private let monitor = Monitor(State())

    /// Starts the thread, unless it runs.
    ///
    /// - Parameters:
    ///   - seconds: The time between two looks.
    ///   - look: Called at each of them, without a lock; returns whether it is to be called again.
    /// - Throws: `Threads.Failure` when the system provides no thread.
    func start(every seconds: Double, _ look: @escaping @Sendable () -> Bool) throws(Threads.Failure) {
        try monitor.withLock { state throws(Threads.Failure) in
            guard !state.isRunning, !state.isStopped else { return }
            try Threads.start("token-keys") { [monitor] in
                while true {
                    let end = Instant.now().adding(seconds: seconds)
                    if monitor.wait(until: end, { $0.isStopped ? true : nil }) != nil { return }
                    HeldLocks.assertNone()
                    guard look() else { return }
                }
            }
            state.isRunning = true
        }
    }

    /// Has the thread end.
    func stop() { monitor.broadcast { $0.isStopped = true } }
}
