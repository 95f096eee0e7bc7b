// SPDX-License-Identifier: Apache-2.0

internal import HeapModule

/// A timer: calls actions at given times, on a thread of its own.
///
/// There is one for a server, which ends polls, leases and registrations, and one for the observers of all realms. Every
/// waiting poll sets a timer, so there may be tens of thousands: they are kept in a heap, and the thread is woken only for one
/// that comes before all others. There is no way to cancel a timer; an action checks whether it is still needed.
package final class TimerQueue: Sendable {
    /// One timer: an action and the time at which it is due.
    fileprivate struct Entry: Comparable {
        /// The time at which the action is due.
        let time: Instant
        /// The action to call on the thread of the timer.
        let action: @Sendable () -> Void

        /// Returns whether the left timer is due before the right one.
        static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
        /// Returns whether both timers are due at the same time.
        static func == (left: Entry, right: Entry) -> Bool { left.time == right.time }
    }

    /// The timers that are set, and the state of the thread that waits for them.
    fileprivate struct State {
        var heap = Heap<Entry>()
        /// Whether the timer has a thread.
        var isRunning = false
        /// Whether the thread stays when no timer is set.
        var isKept = false
    }

    /// The timer of the observers of all realms.
    package static let engine = TimerQueue()

    /// The timers; the thread waits for the next one.
    private let monitor = Monitor(State())

    /// Makes a timer without a thread.
    package init() {}

    /// The number of timers that have not gone off.
    package var count: Int { monitor.withLock { $0.heap.count } }

    /// Calls an action at a time or soon after it, on the thread of the timer.
    ///
    /// - Parameters:
    ///   - time: When to call it. A time in the past means at once.
    ///   - action: The work. It must be short and must not wait, because later timers wait for it.
    /// - Complexity: O(log n) in the number of timers.
    package func set(at time: Instant, _ action: @escaping @Sendable () -> Void) {
        let isNext = monitor.withLock { state -> Bool in
            // A server has started the thread before it accepts requests (`keepRunning`); otherwise the next entry tries again.
            if !state.isRunning { try? start(&state) }
            return state.add(Entry(time: time, action: action))
        }
        if isNext { monitor.broadcast { _ in } }
    }

    /// Starts the thread and keeps it until `stop`, so that no later timer fails because the system provides no thread.
    ///
    /// - Throws: `Threads.Failure` when the system provides no thread now.
    package func keepRunning() throws(Threads.Failure) {
        try monitor.withLock { state throws(Threads.Failure) in
            state.isKept = true
            if !state.isRunning { try start(&state) }
        }
    }

    /// Lets the thread end when no timer is left.
    package func stop() { monitor.broadcast { $0.isKept = false } }

    /// Starts the thread of the timer. Called under the lock.
    private func start(_ state: inout State) throws(Threads.Failure) {
        try Threads.start("timers") { [self] in run() }
        state.isRunning = true
    }

    /// The loop of the thread: waits for the next timer or an earlier one, and calls all actions that are due, without a lock.
    private func run() {
        while let next = nextTime() {
            _ = monitor.wait(until: next) { state -> Bool? in
                if state.heap.isEmpty, !state.isKept { return true }
                return state.heap.min.map { $0.time < next } ?? false ? true : nil
            }
            let now = Instant.now()
            while let action = monitor.withLock({ $0.takeDue(now) }) {
                HeldLocks.assertNone()
                action()
            }
        }
    }

    /// The time of the next timer; a time far in the future for a thread that is kept, and nil when the thread is to end.
    private func nextTime() -> Instant? {
        monitor.withLock { state in
            if let first = state.heap.min { return first.time }
            if state.isKept { return .distantFuture }
            state.isRunning = false
            return nil
        }
    }
}

/// The operations on the timers that are set.
extension TimerQueue.State {
    /// Adds a timer.
    ///
    /// - Returns: Whether it is now the first of all, so that the thread has to be woken.
    fileprivate mutating func add(_ entry: TimerQueue.Entry) -> Bool {
        let isFirst = heap.min.map { entry < $0 } ?? true
        heap.insert(entry)
        return isFirst
    }

    /// Removes the first timer if it is due, and returns its action; nil otherwise.
    fileprivate mutating func takeDue(_ now: Instant) -> (@Sendable () -> Void)? {
        guard let first = heap.min, first.time <= now else { return nil }
        return heap.removeMin().action
    }
}
