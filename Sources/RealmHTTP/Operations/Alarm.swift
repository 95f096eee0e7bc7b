// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Runs things at a time, on a thread of its own. They have to be short.
///
/// Tens of thousands may wait, as every waiting poll sets one: what is next is at the top of a heap, and the thread is
/// woken by what comes before it only.
final class Alarm: Sendable {
    fileprivate struct Entry {
        let time: Instant
        let action: @Sendable () -> Void
    }

    fileprivate struct State {
        /// No entry is earlier than the one at half its index (counted from 1).
        var heap: [Entry] = []
        var isRunning = false
        /// Whether the thread stays when nothing is left to do.
        var isKept = false
    }

    private let monitor = Monitor(State())

    /// Entries that wait.
    var count: Int { monitor.withLock { $0.heap.count } }

    /// Has `action` called at `time` or soon after it, on the thread of the alarm. It must be short and must not wait.
    func set(at time: Instant, _ action: @escaping @Sendable () -> Void) {
        let isNext = monitor.withLock { state -> Bool in
            // A server has made the thread before it answers (`keepRunning`); without one, the next entry tries again.
            if !state.isRunning { try? start(&state) }
            return state.add(Entry(time: time, action: action))
        }
        if isNext { monitor.broadcast { _ in } }
    }

    /// Makes the thread, and keeps it until `stop`: nothing that is set later can fail for want of one.
    func keepRunning() throws(Threads.Failure) {
        try monitor.withLock { state throws(Threads.Failure) in
            state.isKept = true
            if !state.isRunning { try start(&state) }
        }
    }

    /// Lets the thread end when nothing is left to do.
    func stop() { monitor.broadcast { $0.isKept = false } }

    private func start(_ state: inout State) throws(Threads.Failure) {
        try Threads.start("alarm") { [self] in run() }
        state.isRunning = true
    }

    /// Ends when nothing is left to do; the next entry starts it again.
    private func run() {
        while let next = nextTime() {
            _ = monitor.wait(until: next) { state -> Bool? in
                if state.heap.isEmpty, !state.isKept { return true }
                return state.heap.first.map { $0.time < next } ?? false ? true : nil
            }
            let now = Instant.now()
            while let action = monitor.withLock({ $0.takeDue(now) }) {
                HeldLocks.assertNone()
                action()
            }
        }
    }

    private func nextTime() -> Instant? {
        monitor.withLock { state in
            if let first = state.heap.first { return first.time }
            if state.isKept { return .distantFuture }
            state.isRunning = false
            return nil
        }
    }
}

extension Alarm.State {
    /// True when the entry is the first of all.
    fileprivate mutating func add(_ entry: Alarm.Entry) -> Bool {
        heap.append(entry)
        var index = heap.count - 1
        while index > 0, heap[index].time < heap[(index - 1) / 2].time {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
        return index == 0
    }

    fileprivate mutating func takeDue(_ now: Instant) -> (@Sendable () -> Void)? {
        guard let first = heap.first, first.time <= now else { return nil }
        heap[0] = heap[heap.count - 1]
        heap.removeLast()
        sink()
        return first.action
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].time < heap[least].time {
                least = child
            }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
