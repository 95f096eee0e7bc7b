// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// The first evaluations of the definitions of one stream, poll or registration: workers make them one after the other, and others take
/// their turn in between.
///
/// Any thread may use it. A lock guards the work that waits; nothing is called under it.
final class EvaluationLane: Sendable {
    /// The work of a lane, guarded by its lock.
    private struct State {
        /// The work that waits, the first last.
        var waiting: [WorkerPool.Job] = []
        /// Whether a worker does a piece of work, or is to do one.
        var isBusy = false
    }

    /// A piece of work that a worker is to do. If the workers drop it, because the server stops, what waits behind it is dropped too.
    private final class Turn: Sendable {
        private let lane: EvaluationLane
        private let work: WorkerPool.Job
        /// Whether nothing is to be dropped.
        private let isOver = Atomic<Bool>(false)

        /// Makes the turn of a piece of work.
        init(_ lane: EvaluationLane, _ work: @escaping WorkerPool.Job) {
            self.lane = lane
            self.work = work
        }

        /// Does the work, and requests a worker for the next piece.
        func take() {
            forgo()
            work()
            lane.goOn()
        }

        /// Ends the turn without its work.
        func forgo() { isOver.store(true, ordering: .relaxed) }

        deinit {
            if !isOver.load(ordering: .relaxed) { lane.drop() }
        }
    }

    /// Gives a job to a worker, in the share of the client; false when there is none.
    private let submit: @Sendable (@escaping WorkerPool.Job) -> Bool
    private let state = RankedMutex(.leaf, State())

    /// Makes a lane without work.
    ///
    /// - Parameter submit: Gives a job to a worker, in the share of the client.
    init(_ submit: @escaping @Sendable (@escaping WorkerPool.Job) -> Bool) { self.submit = submit }

    /// Adds work behind what waits already.
    ///
    /// - Returns: False when there is no worker. The work is then never done.
    func add(_ work: @escaping WorkerPool.Job) -> Bool {
        let isFirst = state.withLock { state -> Bool in
            guard state.isBusy else {
                state.isBusy = true
                return true
            }
            state.waiting.insert(work, at: 0)
            return false
        }
        guard isFirst else { return true }
        if request(work) { return true }
        goOn()
        return false
    }

    /// Requests a worker for a piece of work.
    ///
    /// - Returns: False when there is none.
    private func request(_ work: @escaping WorkerPool.Job) -> Bool {
        let turn = Turn(self, work)
        if submit({ turn.take() }) { return true }
        turn.forgo()
        return false
    }

    /// Requests a worker for the next piece of work. Without one, as the server stops, the calling thread does it.
    private func goOn() {
        while let work = next() {
            if request(work) { return }
            work()
        }
    }

    /// Removes the next piece of work; nil when there is none, and the lane is free.
    private func next() -> WorkerPool.Job? {
        state.withLock { state -> WorkerPool.Job? in
            let work = state.waiting.popLast()
            if work == nil { state.isBusy = false }
            return work
        }
    }

    /// Drops all work that waits.
    private func drop() {
        let dropped = state.withLock { state -> [WorkerPool.Job] in
            defer { state = State() }
            return state.waiting
        }
        withExtendedLifetime(dropped) {}
    }
}
