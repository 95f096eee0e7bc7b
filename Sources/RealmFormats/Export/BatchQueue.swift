// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmPlatform
internal import RealmStorage

/// The next batches of a stream, shared by the threads that write them: each takes the first free one.
///
/// The thread of the stream adds batches and removes them in order. There are at most as many as it adds, so the amount written
/// ahead is bounded. A lock guards everything.
final class BatchQueue: Sendable {
    /// The states of a batch.
    private enum Stage {
        /// No thread writes it yet.
        case waiting
        /// A thread writes it.
        case taken
        /// It is written.
        case done(BatchLines)
    }

    private struct Entry {
        let number: Int
        let batch: RowBatch
        /// Its progress.
        var stage = Stage.waiting
    }

    /// The state under the lock.
    private struct State {
        /// The batches in their order.
        var entries: Deque<Entry> = []
        var count = 0
        /// The number of helpers that are writing, or are about to.
        var helpers = 0
        /// Whether the stream has ended.
        var isStopped = false

        mutating func entry(_ batch: RowBatch) -> Entry {
            count += 1
            return Entry(number: count, batch: batch)
        }
    }

    private let state = RankedMutex(.leaf, State())

    var count: Int { state.withLock { $0.entries.count } }

    /// Adds a batch behind the others.
    func add(_ batch: RowBatch) { state.withLock { $0.entries.append($0.entry(batch)) } }

    /// Removes the first batch if it is written. An unwritten rest of it is the first one then.
    func removeFirst() -> BatchLines? {
        state.withLock { state in
            guard case .done(let lines)? = state.entries.first?.stage else { return nil }
            state.entries.removeFirst()
            if let rest = lines.rest { state.entries.prepend(state.entry(rest)) }
            return lines
        }
    }

    /// Takes the first batch that no thread writes; nil when there is none, or the stream has ended.
    func dequeue() -> (number: Int, batch: RowBatch)? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            for index in state.entries.indices {
                guard case .waiting = state.entries[index].stage else { continue }
                state.entries[index].stage = .taken
                return (state.entries[index].number, state.entries[index].batch)
            }
            return nil
        }
    }

    func isFirst(_ number: Int) -> Bool { state.withLock { $0.entries.first?.number == number } }

    /// The first batch, which another thread may be writing.
    var firstBatch: (number: Int, batch: RowBatch)? {
        state.withLock { state in state.entries.first.map { ($0.number, $0.batch) } }
    }

    /// Stores the written lines of a batch, unless another thread was faster.
    func store(_ lines: BatchLines, at number: Int) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.number == number }) else { return }
            if case .done = state.entries[index].stage { return }
            state.entries[index].stage = .done(lines)
        }
    }

    // MARK: - Helpers

    /// Returns the number of additional helpers: one for every three free batches, without the next one.
    ///
    /// - Parameter limit: The greatest number.
    /// - Returns: The number of helpers to add.
    func wantedHelpers(atMost limit: Int) -> Int {
        state.withLock { state in
            let waiting = state.entries.count { if case .waiting = $0.stage { true } else { false } }
            return max(0, min(limit, (waiting - 1) / 3) - state.helpers)
        }
    }

    /// Counts helpers that have begun or left.
    func noteHelpers(_ change: Int) { state.withLock { $0.helpers += change } }

    /// Signals the helpers to leave, and drops all batches.
    func stop() {
        // The content of the batches is released after the lock.
        let dropped = state.withLock { state in
            state.isStopped = true
            defer { state.entries = [] }
            return state.entries
        }
        withExtendedLifetime(dropped) {}
    }
}
