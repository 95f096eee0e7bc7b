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
    }

    private let monitor = Monitor(State())

    /// Entries that wait.
    var count: Int { monitor.withLock { $0.heap.count } }

    func set(at time: Instant, _ action: @escaping @Sendable () -> Void) {
        let (isNext, starts) = monitor.withLock { state -> (Bool, Bool) in
            let isNext = state.add(Entry(time: time, action: action))
            defer { state.isRunning = true }
            return (isNext, !state.isRunning)
        }
        if starts {
            Threads.spawn("alarm") { [self] in run() }
        } else if isNext {
            monitor.broadcast { _ in }
        }
    }

    /// Ends when nothing is left to do; the next entry starts it again.
    private func run() {
        while let next = nextTime() {
            _ = monitor.wait(until: next) { state -> Bool? in
                state.heap.first.map { $0.time < next } ?? false ? true : nil
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
            if state.heap.isEmpty { state.isRunning = false }
            return state.heap.first?.time
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
