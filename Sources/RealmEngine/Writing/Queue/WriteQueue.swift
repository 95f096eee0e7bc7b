// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmStorage

/// The one writer of a database: a thread, and what waits for it.
///
/// Writes that wait are applied in order in one transaction, each under a savepoint of its own, and share one durable
/// commit (`WriteGroup`). An interactive transaction holds the writer alone (`InteractiveTransaction`). Completions run
/// on the writer thread and must not wait for anything.
///
/// Threads and locks:
/// - `monitor` guards everything that changes. It is never held while a job runs, while a completion is called or while the
///   file is written.
/// - The thread is made by the first write and ends after `WriteLimits.threadRest` without work, so realms that are only read
///   have none.
/// - Closing lets the thread finish what waits; an interactive transaction is rolled back.
///
/// Order: jobs run in the order in which they came. A request for an interactive transaction waits for the jobs before it;
/// between two of them the jobs that wait get their turn, and a client that just had one comes after the others.
final class WriteQueue: Sendable {
    /// Something that waits for the writer.
    enum Entry {
        case job(WriteJob)
        case begin(BeginRequest)

        /// When it stops waiting for an interactive transaction to end.
        func waitEnds(_ limits: WriteLimits) -> Instant {
            switch self {
            case .job(let job): return min(job.submitted.adding(limits.lockWait), job.request.deadline)
            case .begin(let request): return request.waitEnds
            }
        }

        /// Answers with an error.
        func refuse(_ error: WriteError) {
            switch self {
            case .job(let job): job.refuse(error)
            case .begin(let request): request.completion(.failure(error))
            }
        }
    }

    /// What the monitor guards.
    struct State {
        /// What waits, in order.
        var entries: Deque<Entry> = []
        /// Whether nothing new is taken.
        var isClosed = false
        /// Whether the last thread has ended after the queue was closed.
        var isStopped = false
        /// Whether the writer has a thread; without work it has none.
        var hasThread = false
        /// Whether the writer comes from an interactive transaction: writes that wait are next then.
        var comesFromTransaction = false
        /// Whose interactive transaction was the last.
        var lastClient: String?
        /// The interactive transaction that holds the writer.
        var interactive: InteractiveState?
        /// Interactive transactions that are over.
        var ended = EndedTransactions()
    }

    /// Bounds of the queue.
    let limits: WriteLimits
    /// The state; the writer thread waits on it.
    let monitor = Monitor(State())
    /// The database.
    private let writer: any WriteBackend
    /// Where waits and holds are noted.
    private let figures: WriteFigures
    /// The name of the realm, after which the thread is named.
    private let name: String

    /// A queue for one database, whose thread is named after it.
    init(_ writer: any WriteBackend, _ limits: WriteLimits, _ figures: WriteFigures, name: String) {
        self.writer = writer
        self.limits = limits
        self.figures = figures
        self.name = name
    }

    /// Counts the writes that are not answered.
    private let pending = PendingCount()

    /// Writes that are not answered yet.
    var pendingCount: Int { pending.value }

    /// Hands a write in. It is refused at once when too many wait or the database is closing.
    func submit(_ job: WriteJob) {
        job.enter(pending)
        let refusal = monitor.broadcast { state -> WriteError? in
            if state.isClosed { return WriteQueue.closed }
            guard state.entries.count < limits.queuedJobs else { return overload(state) }
            return enqueue(.job(job), &state)
        }
        if let refusal { job.refuse(refusal) }
    }

    /// Hands in a request for an interactive transaction; it may be refused at once.
    func submit(_ begin: BeginRequest) {
        let refusal = monitor.broadcast { state -> WriteError? in
            if state.isClosed { return WriteQueue.closed }
            guard state.entries.count < limits.queuedJobs else { return overload(state) }
            if let interactive = state.interactive, begin.waitEnds <= Instant.now() { return WriteQueue.busy(interactive) }
            if let excess = tooMany(of: begin.client, state) { return excess }
            return enqueue(.begin(begin), &state)
        }
        if let refusal { begin.completion(.failure(refusal)) }
    }

    /// Adds what waits, and sees to it that there is a thread.
    private func enqueue(_ entry: Entry, _ state: inout State) -> WriteError? {
        if !state.hasThread {
            do throws(Threads.Failure) {
                try Threads.start("write-\(name)") { [self] in run() }
            } catch {
                return WriteQueue.withoutThread
            }
            state.hasThread = true
        }
        state.entries.append(entry)
        return nil
    }

    /// The error of a write for which the system gives no thread.
    private static let withoutThread: WriteError = {
        var error = WriteError(.overloaded, "the server can make no thread for the writer of this realm at the moment")
        error.retryAfter = .seconds(1)
        return error
    }()

    /// Nobody keeps the writer for himself by beginning again and again.
    private func tooMany(of client: String?, _ state: State) -> WriteError? {
        guard let client else { return nil }
        var count = state.interactive?.client == client ? 1 : 0
        for case .begin(let other) in state.entries where other.client == client { count += 1 }
        guard count >= limits.transactionsPerClient else { return nil }
        var error = WriteError(.tooManyTransactions, "this client has \(count) interactive transactions already, open or waiting")
        error.limit = limits.transactionsPerClient
        error.retryAfter = .seconds(1)
        return error
    }

    /// The error of a write that finds the queue full.
    private func overload(_ state: State) -> WriteError {
        var error = WriteError(.overloaded, "\(state.entries.count) writes are waiting already")
        error.limit = limits.queuedJobs
        error.retryAfter = .seconds(1)
        return error
    }

    /// The error of what comes after the queue was closed.
    static let closed = WriteError(.realmUnavailable, "the realm is being closed")

    /// The error of what cannot wait for an interactive transaction to end.
    static func busy(_ interactive: InteractiveState) -> WriteError {
        var error = WriteError(.writeLockBusy, "an interactive transaction holds the writer")
        error.retryAfter = interactive.expires.duration(since: Instant.now())
        return error
    }

    // MARK: - Closing

    /// Takes no more writes, rolls an interactive transaction back, and returns when what waited is done.
    func close() {
        monitor.broadcast { $0.isClosed = true }
        _ = monitor.wait { state -> Bool? in state.isStopped || !state.hasThread ? true : nil }
    }

    // MARK: - The writer thread

    /// What the thread does next.
    private enum Work {
        case group([WriteJob])
        case begin(BeginRequest)
        /// There is nothing to do, and will be nothing more, or not for a while.
        case stop
    }

    /// What the thread does until there is nothing to do for a while.
    private func run() {
        writer.prepare { [self] in
            refuseUnprepared()
            return !monitor.withLock { $0.isClosed }
        }
        var hasWritten = false
        while true {
            let work = next(afterWrite: hasWritten)
            hasWritten = true
            switch work {
            case .group(let jobs): perform(jobs)
            case .begin(let request):
                if monitor.withLock({ $0.isClosed }) {
                    request.completion(.failure(WriteQueue.closed))
                } else {
                    hold([request.submitted]) { InteractiveTransaction.run(request, on: self, writer) }
                }
            case .stop: return
            }
        }
    }

    /// A pause between writes that is worth a look at the file.
    private static let pause = Duration.milliseconds(5)

    /// Waits for something to do.
    private func next(afterWrite: Bool) -> Work {
        if afterWrite {
            if let work = waitForWork(for: WriteQueue.pause) { return work }
            writer.didPause()
        }
        while true {
            if let work = waitForWork(for: limits.threadRest) { return work }
            if rests() { return .stop }
        }
    }

    /// Nil when there is none in this time, or the queue is closed.
    private func waitForWork(for time: Duration) -> Work? {
        let work = monitor.wait(until: Instant.now().adding(time)) { state -> Work? in
            guard !state.entries.isEmpty else { return state.isClosed ? .stop : nil }
            return take(&state)
        }
        guard let work, case .stop = work else { return work }
        return nil
    }

    /// Lets the thread end, unless something came just now; the next write makes another.
    private func rests() -> Bool {
        monitor.broadcast { state in
            guard state.entries.isEmpty else { return false }
            state.hasThread = false
            state.isStopped = state.isClosed
            return true
        }
    }

    /// Takes what is done next out of the queue.
    private func take(_ state: inout State) -> Work {
        // Between two interactive transactions the writes that wait get their turn.
        let jobs = takeGroup(&state, passingBegins: state.comesFromTransaction)
        state.comesFromTransaction = false
        guard jobs.isEmpty else { return .group(jobs) }
        guard let request = takeBegin(&state) else { return .stop }
        state.comesFromTransaction = true
        state.lastClient = request.client
        return .begin(request)
    }

    /// The interactive transaction that begins next: that of another client than the last, if there is one.
    private func takeBegin(_ state: inout State) -> BeginRequest? {
        var chosen: (index: Int, request: BeginRequest)?
        for (index, entry) in state.entries.enumerated() {
            guard case .begin(let request) = entry else { continue }
            if chosen == nil { chosen = (index, request) }
            guard request.client != nil, request.client != state.lastClient else { continue }
            chosen = (index, request)
            break
        }
        if let chosen { state.entries.remove(at: chosen.index) }
        return chosen?.request
    }

    /// The writes that wait, up to the next that wants to be alone, or up to the next beginning of a transaction.
    private func takeGroup(_ state: inout State, passingBegins: Bool) -> [WriteJob] {
        var jobs: [WriteJob] = []
        var passed: [Entry] = []
        var count = 0
        for entry in state.entries {
            if case .begin = entry {
                guard passingBegins else { break }
                passed.append(entry)
            } else if case .job(let job) = entry {
                guard jobs.count < limits.groupJobs, jobs.isEmpty || !job.request.isAlone else { break }
                jobs.append(job)
            }
            count += 1
            if jobs.last?.request.isAlone == true { break }
        }
        state.entries.replaceSubrange(0..<count, with: passed)
        return jobs
    }

    /// Runs a group; jobs that there was no room for wait again, before all others.
    private func perform(_ jobs: [WriteJob]) {
        let left = hold(jobs.map(\.submitted)) { WriteGroup(jobs, writer, limits).run() }
        guard !left.isEmpty else { return }
        monitor.withLock { $0.entries.insert(contentsOf: left.map(Entry.job), at: 0) }
    }

    /// Does something with the writer, and notes how long that took, and how long those waited who wanted it. Jobs that are
    /// left over start to wait again.
    private func hold<Result>(_ submissions: [Instant], _ body: () -> Result) -> Result {
        let begin = Instant.now()
        for submitted in submissions { figures.noteWait(begin.seconds(since: submitted)) }
        defer { figures.noteHold(Instant.now().seconds(since: begin)) }
        return body()
    }

    /// Refuses what has waited too long for a file that is looked through before its first write.
    private func refuseUnprepared() {
        guard monitor.withLock({ !$0.entries.isEmpty }) else { return }
        var error = WriteError(.realmUnavailable, "the file is being looked through before it is written to")
        error.retryAfter = .seconds(5)
        refuseImpatient(error)
    }

    /// Refuses what has waited too long for an interactive transaction.
    func refuseImpatient(_ interactive: InteractiveState) { refuseImpatient(WriteQueue.busy(interactive)) }

    private func refuseImpatient(_ error: @autoclosure () -> WriteError) {
        let now = Instant.now()
        let refused = monitor.withLock { state -> [Entry] in
            let impatient = Array(state.entries.filter { $0.waitEnds(limits) <= now })
            state.entries.removeAll { $0.waitEnds(limits) <= now }
            return impatient
        }
        for entry in refused { entry.refuse(error()) }
    }
}
