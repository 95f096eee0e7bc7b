// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The threads that read keys, and the one that checks at intervals whether keys have to be read again.
final class KeyKeeper: Sendable {
    /// The state of the threads.
    private struct State {
        /// Whether the thread that looks runs.
        var isRunning = false
        /// Since when all threads are to end; nil while they are not.
        var stopped: Instant?
        /// The number of looks and readings that have not ended.
        var busyCount = 0

        /// Records that a look or a reading begins; returns false when it must not.
        mutating func begin() -> Bool {
            guard stopped == nil else { return false }
            busyCount += 1
            return true
        }
    }

    private let monitor = Monitor(State())

    /// Starts the thread that looks, unless it runs.
    ///
    /// - Parameters:
    ///   - seconds: The time between two looks.
    ///   - action: Called at each of them, without a lock; returns whether it is to be called again.
    /// - Throws: `Threads.Failure` when the system provides no thread.
    func start(every seconds: Double, _ action: @escaping @Sendable () -> Bool) throws(Threads.Failure) {
        try monitor.withLock { state throws(Threads.Failure) in
            guard !state.isRunning, state.stopped == nil else { return }
            try Threads.start("token-keys") { [monitor] in
                while true {
                    let end = Instant.now().adding(seconds: seconds)
                    if monitor.wait(until: end, { $0.stopped }) != nil { return }
                    guard monitor.withLock({ $0.begin() }) else { return }
                    HeldLocks.assertNone()
                    let continues = action()
                    monitor.broadcast { $0.busyCount -= 1 }
                    guard continues else { return }
                }
            }
            state.isRunning = true
        }
    }

    /// Reads keys on a separate thread: a slow source delays no other.
    ///
    /// - Returns: False after the end of all reading.
    /// - Throws: `Threads.Failure` when the system provides no thread.
    func read(_ reading: @escaping @Sendable () -> Void) throws(Threads.Failure) -> Bool {
        guard monitor.withLock({ $0.begin() }) else { return false }
        do throws(Threads.Failure) {
            try Threads.start("token-keys") { [monitor] in
                reading()
                monitor.broadcast { $0.busyCount -= 1 }
            }
        } catch {
            monitor.broadcast { $0.busyCount -= 1 }
            throw error
        }
        return true
    }

    /// Ends the threads. No check and no reading begins after this.
    func stop() { monitor.broadcast { $0.stopped = $0.stopped ?? .now() } }

    /// Waits until no thread looks or reads, or until some seconds after `stop`. It must not be called by one of them.
    func waitForEnd(seconds: Double) {
        let end = monitor.withLock { $0.stopped ?? .now() }.adding(seconds: seconds)
        _ = monitor.wait(until: end) { $0.busyCount == 0 ? true : nil }
    }
}
