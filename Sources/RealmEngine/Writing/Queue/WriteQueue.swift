// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The one writer of a database: a thread, and what waits for it.
///
/// Writes that wait are applied in order in one transaction, each under a savepoint of its own, and share one durable
/// commit (`WriteGroup`). An interactive transaction holds the writer alone (`InteractiveTransaction`). Completions run
/// on the writer thread and must not wait for anything.
final class WriteQueue: Sendable {
    /// Something that waits for the writer.
    enum Entry {
        case job(WriteJob)
        case begin(BeginRequest)

        /// When it stops waiting for an interactive transaction to end.
        func waitEnds(_ limits: WriteLimits) -> Instant {
            switch self {
            case .job(let job): return min(job.submitted.adding(seconds: limits.lockWaitSeconds), job.request.deadline)
            case .begin(let request): return request.waitEnds
            }
        }

        func refuse(_ error: WriteError) {
            switch self {
            case .job(let job): job.refuse(error)
            case .begin(let request): request.completion(.failure(error))
            }
        }
    }

    struct State {
        var entries: [Entry] = []
        var isClosed = false
        var isStopped = false
        /// The interactive transaction that holds the writer.
        var interactive: InteractiveState?
        var ended = EndedTransactions()
    }

    let limits: WriteLimits
    let monitor = Monitor(State())
    private let writer: any WriteBackend
    private let figures: WriteFigures

    init(_ writer: any WriteBackend, _ limits: WriteLimits, _ figures: WriteFigures, name: String) {
        self.writer = writer
        self.limits = limits
        self.figures = figures
        Threads.spawn("write-\(name)") { [self] in run() }
    }

    private let pending = PendingCount()

    /// Writes that are not answered yet.
    var pendingCount: Int { pending.value }

    /// Hands a write in. It is refused at once when too many wait or the database is closing.
    func submit(_ job: WriteJob) {
        job.enter(pending)
        let refusal = monitor.broadcast { state -> WriteError? in
            if state.isClosed { return WriteQueue.closed }
            guard state.entries.count < limits.queuedJobs else { return overload(state) }
            state.entries.append(.job(job))
            return nil
        }
        if let refusal { job.refuse(refusal) }
    }

    func submit(_ begin: BeginRequest) {
        let refusal = monitor.broadcast { state -> WriteError? in
            if state.isClosed { return WriteQueue.closed }
            guard state.entries.count < limits.queuedJobs else { return overload(state) }
            if let interactive = state.interactive, begin.waitEnds <= Instant.now() { return WriteQueue.busy(interactive) }
            state.entries.append(.begin(begin))
            return nil
        }
        if let refusal { begin.completion(.failure(refusal)) }
    }

    private func overload(_ state: State) -> WriteError {
        var error = WriteError(.overloaded, "\(state.entries.count) writes are waiting already")
        error.limit = limits.queuedJobs
        error.retryAfterSeconds = 1
        return error
    }

    static let closed = WriteError(.realmUnavailable, "the realm is being closed")

    static func busy(_ interactive: InteractiveState) -> WriteError {
        var error = WriteError(.writeLockBusy, "an interactive transaction holds the writer")
        error.retryAfterSeconds = interactive.expires.seconds(since: Instant.now())
        return error
    }

    // MARK: - Closing

    /// Takes no more writes, rolls an interactive transaction back, and returns when what waited is done.
    func close() {
        monitor.broadcast { $0.isClosed = true }
        _ = monitor.wait { state -> Bool? in state.isStopped ? true : nil }
    }

    // MARK: - The writer thread

    private enum Work {
        case group([WriteJob])
        case begin(BeginRequest)
        case stop
    }

    private func run() {
        while true {
            switch next() {
            case .group(let jobs): perform(jobs)
            case .begin(let request):
                if monitor.withLock({ $0.isClosed }) {
                    request.completion(.failure(WriteQueue.closed))
                } else {
                    hold([request.submitted]) { InteractiveTransaction.run(request, on: self, writer) }
                }
            case .stop:
                monitor.broadcast { $0.isStopped = true }
                return
            }
        }
    }

    private func next() -> Work {
        monitor.wait { state -> Work? in
            guard let first = state.entries.first else { return state.isClosed ? .stop : nil }
            if case .begin(let request) = first {
                state.entries.removeFirst()
                return .begin(request)
            }
            return .group(takeGroup(&state))
        } ?? .stop
    }

    /// The writes that wait, up to the next that wants to be alone.
    private func takeGroup(_ state: inout State) -> [WriteJob] {
        var jobs: [WriteJob] = []
        for entry in state.entries {
            guard case .job(let job) = entry, jobs.count < limits.groupJobs, jobs.isEmpty || !job.request.isAlone else { break }
            jobs.append(job)
            if job.request.isAlone { break }
        }
        state.entries.removeFirst(jobs.count)
        return jobs
    }

    private func perform(_ jobs: [WriteJob]) {
        let left = hold(jobs.map(\.submitted)) { WriteGroup(jobs, writer, limits).run() }
        guard !left.isEmpty else { return }
        monitor.withLock { $0.entries.insert(contentsOf: left.map(Entry.job), at: 0) }
    }

    /// Does something with the writer, and notes how long that took, and how long those waited who wanted it. Jobs that are
    /// left over begin to wait anew.
    private func hold<Result>(_ submissions: [Instant], _ body: () -> Result) -> Result {
        let begin = Instant.now()
        for submitted in submissions { figures.noteWait(begin.seconds(since: submitted)) }
        defer { figures.noteHold(Instant.now().seconds(since: begin)) }
        return body()
    }

    /// Refuses what has waited too long for an interactive transaction.
    func refuseImpatient(_ interactive: InteractiveState) {
        let now = Instant.now()
        let refused = monitor.withLock { state -> [Entry] in
            let impatient = state.entries.filter { $0.waitEnds(limits) <= now }
            state.entries.removeAll { $0.waitEnds(limits) <= now }
            return impatient
        }
        for entry in refused { entry.refuse(WriteQueue.busy(interactive)) }
    }
}

/// What the queue needs of a database.
protocol WriteBackend: Sendable {
    /// The newest version.
    var current: Database.Version { get }
    /// Throws when writes are not possible now.
    func beginWrite() throws(WriteError) -> WriteTransaction
    func makeSession(_ transaction: WriteTransaction, deadline: Instant) -> WriteSession
    /// Makes the changes durable and the new version the newest.
    func commit(_ transaction: WriteTransaction, mark: (any Sendable)?) throws(WriteError) -> Database.Version
    /// A group of writes is over, committed or not.
    func didEndWrite()
}
