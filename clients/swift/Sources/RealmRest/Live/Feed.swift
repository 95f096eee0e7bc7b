import Synchronization

/// Changes in order. The sequence ends when what is followed is closed or deleted, and throws when it cannot go on.
///
/// It holds a bounded number of changes. Who falls further behind gets one that stands for all that was dropped: the
/// contents as they are now. Each feed has one reader.
public struct ChangeFeed<Change: Sendable>: AsyncSequence, Sendable {
    let queue: FeedQueue<Change>

    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let queue: FeedQueue<Change>

        public mutating func next() async throws -> Change? { try await queue.next() }
    }
}

final class FeedQueue<Change: Sendable>: Sendable {
    private struct State {
        var waiting: [Change] = []
        var reader: CheckedContinuation<Void, Never>?
        var hasOverflowed = false
        var isClosed = false
        var error: (any Error)?
    }

    private let state = Mutex(State())
    private let bound: Int
    private let whole: @Sendable () -> Change
    private let onEnd: @Sendable () -> Void

    init(bound: Int, whole: @escaping @Sendable () -> Change, onEnd: @escaping @Sendable () -> Void = {}) {
        self.bound = bound
        self.whole = whole
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    func put(_ change: Change) {
        wake { state in
            guard !state.isClosed, !state.hasOverflowed else { return }
            if state.waiting.count >= bound {
                state.hasOverflowed = true
                state.waiting.removeAll()
            } else {
                state.waiting.append(change)
            }
        }
    }

    /// Ends the feed after what is in it.
    func close(_ error: (any Error)? = nil) {
        wake { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            state.error = error
        }
    }

    func next() async throws -> Change? {
        while true {
            try Task.checkCancellation()
            switch take() {
            case .change(let change): return change
            case .overflow: return whole()
            case .end(let error):
                if let error { throw error }
                return nil
            case .nothing: await wait()
            }
        }
    }

    private enum Taken {
        case change(Change)
        case overflow
        case end((any Error)?)
        case nothing
    }

    private func take() -> Taken {
        state.withLock { state in
            if state.hasOverflowed {
                state.hasOverflowed = false
                return .overflow
            }
            if !state.waiting.isEmpty { return .change(state.waiting.removeFirst()) }
            guard state.isClosed else { return .nothing }
            defer { state.error = nil }
            return .end(state.error)
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if Task.isCancelled || state.hasOverflowed || !state.waiting.isEmpty || state.isClosed { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            wake { _ in }
        }
    }

    private func wake(_ change: (inout sending State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }
}
