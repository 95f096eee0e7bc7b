// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Threads that send the events of suspended connections directly on their sockets.
///
/// A commit may have an event for ten thousand streams. The library would take each connection through its
/// resumption, the set of sockets it waits for, and the next suspension, which costs more than the sending.
///
/// A body is queued once at most, and one thread at a time delivers it, so the queue is not longer than there are
/// streams. All listeners of a server share the threads.
package final class EventSenders: Sendable {
    /// The bodies to send, under the lock.
    private struct State {
        /// The bodies whose sources may have something, in the order in which they were woken.
        var waiting: Deque<EventBody> = []
        /// The number of running threads.
        var threads = 0
        /// Whether nothing is sent any more, because the server stops.
        var isClosed = false
    }

    private let state = Monitor(State())
    /// The number of bodies that a thread takes at once, so that the lock is taken rarely and all threads have work.
    private static let bodiesAtOnce = 64

    /// The number of connections that wait for a thread that sends to them.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Starts the threads. It is called once, before anything is queued.
    ///
    /// - Throws: `Threads.Failure` when the system can make no more threads; the existing ones send.
    func start(_ count: Int) throws(Threads.Failure) {
        for _ in 0..<max(1, count) {
            state.withLock { $0.threads += 1 }
            do {
                try Threads.start("senders", stackBytes: 512 << 10) { [self] in run() }
            } catch {
                state.withLock { $0.threads -= 1 }
                throw error
            }
        }
    }

    /// Makes threads deliver the content of bodies. It does not wait.
    ///
    /// - Parameter bodies: Bodies that are delivered directly. Those that are queued already are left out; those that
    ///   are being delivered are delivered once more.
    func submit(_ bodies: [EventBody]) {
        let queued = bodies.filter { $0.noteWoken() }
        guard !queued.isEmpty else { return }
        let wakesAll = queued.count > EventSenders.bodiesAtOnce
        let add = { (state: inout State) in
            guard !state.isClosed else { return }
            state.waiting.append(contentsOf: queued)
        }
        if wakesAll { state.broadcast(add) } else { state.signal(add) }
    }

    /// Ends the threads, and waits until none of them sends.
    func close() {
        let dropped = state.broadcast { state -> Deque<EventBody> in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        _ = state.wait { $0.threads == 0 ? true : nil }
        withExtendedLifetime(dropped) {}
    }

    /// The loop of a thread.
    private func run() {
        let buffer = EventChunk()
        while true {
            let bodies = next()
            guard !bodies.isEmpty else { break }
            HeldLocks.assertNone()
            var again: [EventBody] = []
            for body in bodies {
                body.beginDelivery()
                let isOver = body.deliver(through: buffer)
                if body.endDelivery(isOver: isOver) { again.append(body) }
            }
            if !again.isEmpty { state.signal { if !$0.isClosed { $0.waiting.append(contentsOf: again) } } }
        }
        state.broadcast { $0.threads -= 1 }
    }

    /// Waits for bodies; none when the server stops.
    private func next() -> [EventBody] {
        state.wait { state -> [EventBody]? in
            if state.isClosed { return [] }
            guard !state.waiting.isEmpty else { return nil }
            // A short queue is shared, so that the last bodies do not all wait for one thread.
            let count = max(1, min(EventSenders.bodiesAtOnce, state.waiting.count / max(1, state.threads)))
            defer { state.waiting.removeFirst(count) }
            return Array(state.waiting.prefix(count))
        } ?? []
    }
}
