// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmPlatform

/// The single writer of a database: the queue of the writes that wait for it.
///
/// Waiting writes are applied in order in one transaction, each under its own savepoint, and share one
/// durable commit (`WriteGroup`). An interactive transaction holds the writer alone
/// (`InteractiveTransaction`). The *writer's thread* is the one of `SharedThreads.writers` that works for
/// this queue at the moment; there is one at most. Completions run on it and must not wait.
///
/// Threads and locks:
///
/// - `monitor` guards everything that changes. It is never held while a job runs, while a completion is
///   called or while the file is written.
/// - A write that finds the queue without a thread requests one, which leaves the queue a few milliseconds
///   after the last write, or after each group of writes when other realms wait for a thread.
/// - When the queue is closed, the thread finishes the waiting writes; an interactive transaction is
///   rolled back.
///
/// Order: jobs run in the order in which they arrive. A request for an interactive transaction waits for the jobs before it;
/// between two such transactions the waiting jobs run, and a client that just had a transaction comes after the other clients.
final class WriteQueue: Sendable {
    enum Entry {
        case job(WriteJob)
        /// A request to begin an interactive transaction.
        case begin(BeginRequest)

        /// Returns the instant at which the entry stops waiting for an interactive transaction to end.
        func waitEnds(_ limits: WriteLimits) -> Instant {
            switch self {
            case .job(let job):
                return min(job.submitted.adding(job.request.lockWait ?? limits.lockWait), job.request.deadline)
            case .begin(let request): return request.waitEnds
            }
        }

        /// The instant at which the entry stops waiting while no interactive transaction holds the writer.
        ///
        /// A request with no time to wait gets the writer if it is free. The writer's thread takes a moment to start, and to finish
        /// writes that were answered already.
        var patienceEnds: Instant {
            switch self {
            case .job(let job): return job.request.deadline
            case .begin(let request): return max(request.waitEnds, request.submitted.adding(WriteQueue.moment))
            }
        }

        /// Completes the entry with an error.
        func refuse(_ error: WriteError) {
            switch self {
            case .job(let job): job.refuse(error)
            case .begin(let request): request.completion(.failure(error))
            }
        }
    }

    /// The state of the queue and of its thread, guarded by `monitor`.
    struct State {
        /// The waiting entries in their order.
        var entries: Deque<Entry> = []
        /// Whether new entries are rejected.
        var isClosed = false
        /// Whether a thread works for the queue or was requested.
        var isScheduled = false
        /// Whether the file was prepared for its first write.
        var isPrepared = false
        /// Whether the writer ran an interactive transaction last: waiting writes are next then.
        var comesFromTransaction = false
        var lastGroupCount = 0
        /// The client of the last interactive transaction.
        var lastClient: String?
        /// The interactive transaction that holds the writer.
        var interactive: InteractiveTransaction.State?
        /// The writes of the present group. Writes that have not begun wait like those in the queue.
        var group: [WriteJob] = []
        /// The instant at which a timer looks for entries that have waited too long; nil when none is set.
        var watch: Instant?
        /// The interactive transactions that have ended.
        var ended = EndedTransactions()
    }

    let limits: WriteLimits
    /// The state; the writer's thread waits for its changes.
    let monitor = Monitor(State(), rank: .writeQueue)
    /// The database, which owns the queue.
    private weak let backend: (any WriteBackend)?
    /// The metrics of waiting times and holding times.
    private let metrics: WriteMetrics
    private let threads: SharedThreads

    /// Makes the queue of one database. It has no thread until the first write.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - metrics: Receives waiting times and holding times.
    init(
        _ writer: any WriteBackend, _ limits: WriteLimits, _ metrics: WriteMetrics,
        threads: SharedThreads = .writers
    ) {
        backend = writer
        self.limits = limits
        self.metrics = metrics
        self.threads = threads
    }

    /// Counts the writes that are not completed yet.
    private let pending = WriteJob.PendingCount()

    /// The number of writes that are not completed yet.
    var pendingCount: Int { pending.value }

    /// Adds a write to the queue. It is completed with an error at once when too many wait or the database is closing.
    func submit(_ job: WriteJob) {
        job.enter(pending)
        let refusal = monitor.broadcast { state -> WriteError? in
            if state.isClosed { return WriteQueue.closed }
            guard state.entries.count < limits.queuedJobs else { return overload(state) }
            return enqueue(.job(job), &state)
        }
        if let refusal { job.refuse(refusal) }
    }

    /// Adds a request for an interactive transaction. It is completed with an error at once when it cannot wait.
    func submit(_ begin: BeginRequest) {
        let refusal = monitor.broadcast { state -> WriteError? in
            if state.isClosed { return WriteQueue.closed }
            guard state.entries.count < limits.queuedJobs else { return overload(state) }
            if let interactive = state.interactive, begin.waitEnds <= Instant.now() { return WriteQueue.busy(interactive) }
            if let excess = excess(of: begin, state) { return excess }
            return enqueue(.begin(begin), &state)
        }
        if let refusal { begin.completion(.failure(refusal)) }
    }

    /// Adds an entry, and requests a thread if there is none; returns the error when the system provides no thread.
    private func enqueue(_ entry: Entry, _ state: inout State) -> WriteError? {
        if !state.isScheduled {
            do throws(Threads.Failure) {
                try threads.submit { [self] in run() }
            } catch {
                return WriteQueue.withoutThread
            }
            state.isScheduled = true
        }
        state.entries.append(entry)
        watch(until: entry.waitEnds(limits), &state)
        return nil
    }

    // MARK: - Waiting too long

    /// Sets the timer that ends the waiting of entries, unless it goes off before the given instant.
    ///
    /// The writer's thread may be busy for longer than an entry waits: with an import, a migration, a request of an interactive
    /// transaction, or the writes of other realms.
    private func watch(until end: Instant, _ state: inout State) {
        guard end < state.watch ?? .distantFuture else { return }
        state.watch = end
        TimerQueue.engine.set(at: end) { [weak self] in self?.endWaiting(at: end) }
    }

    /// Completes all entries that have waited too long with an error, and sets the timer for the next one.
    private func endWaiting(at end: Instant) {
        let now = Instant.now()
        let (late, error) = monitor.withLock { state -> ([Entry], WriteError) in
            guard state.watch == end else { return ([], WriteQueue.late) }
            let isInteractive = state.interactive != nil
            func ends(_ entry: Entry) -> Instant { isInteractive ? entry.waitEnds(limits) : entry.patienceEnds }
            let error = state.interactive.map(WriteQueue.busy) ?? (state.isPrepared ? WriteQueue.late : WriteQueue.unprepared)
            let late = state.entries.filter { ends($0) <= now } + state.group.map(Entry.job).filter { $0.patienceEnds <= now }
            state.entries.removeAll { ends($0) <= now }
            state.group.removeAll { $0.request.deadline <= now }
            state.watch = nil
            let next = state.entries.lazy.map(ends).min() ?? .distantFuture
            let others = state.group.lazy.filter(\.isWaiting).map(\.request.deadline).min() ?? .distantFuture
            watch(until: min(next, others), &state)
            return (Array(late), error)
        }
        for entry in late {
            switch entry {
            case .job(let job): job.refuseIfWaiting(error)
            case .begin(let request): request.completion(.failure(error.code == .deadlineExceeded ? WriteQueue.occupied : error))
            }
        }
    }

    /// Completes the waiting writes that must not be made any more, and leaves their places to others.
    func refuseOutdated() {
        let waiting = monitor.withLock { state in
            state.entries.compactMap { if case .job(let job) = $0 { job } else { nil } } + state.group
        }
        let refused = waiting.filter { job in
            guard job.isWaiting, let reason = job.request.refusal?() else { return false }
            return job.refuseIfWaiting(WriteError(caller: reason))
        }
        guard !refused.isEmpty else { return }
        monitor.withLock { state in
            state.entries.removeAll { if case .job(let job) = $0 { job.isCancelled } else { false } }
        }
        withExtendedLifetime(waiting) {}
    }

    /// The minimum time that a request for an interactive transaction waits for the thread of the writer.
    private static let moment = Duration.seconds(1)

    /// The error for a write whose time is over before it has begun.
    private static let late: WriteError = {
        var error = WriteError(.deadlineExceeded, "the write had to wait for others until its deadline, and nothing was written")
        error.retryAfter = .seconds(1)
        return error
    }()

    /// The error for an interactive transaction whose time is over before it has begun.
    private static let occupied: WriteError = {
        var error = WriteError(.writeLockBusy, "another write holds the writer")
        error.retryAfter = .seconds(1)
        return error
    }()

    /// The error for a write for which the system provides no thread.
    private static let withoutThread: WriteError = {
        var error = WriteError(.overloaded, "the system provides no thread for the writer of this realm at the moment")
        error.retryAfter = .seconds(1)
        return error
    }()

    /// Returns an error when a client has too many interactive transactions, so that no client keeps the writer to itself.
    private func excess(of begin: BeginRequest, _ state: State) -> WriteError? {
        guard let client = begin.client else { return nil }
        let limit = begin.limit ?? limits.transactionsPerClient
        var count = state.interactive?.client == client ? 1 : 0
        for case .begin(let other) in state.entries where other.client == client { count += 1 }
        guard count >= limit else { return nil }
        var error = WriteError(.tooManyTransactions, "this client has \(count) interactive transactions already, open or waiting")
        error.limit = limit
        error.retryAfter = .seconds(1)
        return error
    }

    /// Makes the error for a write that finds the queue full.
    private func overload(_ state: State) -> WriteError {
        var error = WriteError(.overloaded, "the queue of this realm is full: \(state.entries.count) writes are waiting")
        error.limit = limits.queuedJobs
        error.retryAfter = .seconds(1)
        return error
    }

    /// The error for entries that arrive after the queue was closed.
    static let closed = WriteError(.realmUnavailable, "the realm is being closed")

    /// Makes the error for an entry that cannot wait any longer for an interactive transaction to end.
    static func busy(_ interactive: InteractiveTransaction.State) -> WriteError {
        var error = WriteError(.writeLockBusy, "an interactive transaction holds the writer")
        error.retryAfter = interactive.expires.duration(since: Instant.now())
        return error
    }

    // MARK: - Closing

    /// Rejects new writes, rolls back an interactive transaction, and returns when the waiting writes are done.
    func close() {
        monitor.broadcast { $0.isClosed = true }
        _ = monitor.wait { state -> Bool? in state.isScheduled ? nil : true }
    }

    // MARK: - The writer's thread

    /// The next work of the thread.
    private enum Work {
        case group([WriteJob])
        /// An interactive transaction.
        case begin(BeginRequest)
    }

    /// Runs work until there is none for a few milliseconds, or until other realms need the thread.
    private func run() {
        guard let writer = backend else { return refuseAll() }
        prepare(writer)
        while let work = next(writer) {
            switch work {
            case .group(let jobs): perform(jobs, writer)
            case .begin(let request): begin(request, writer)
            }
            if threads.isCrowded, passesThreadOn() { return }
        }
    }

    /// Completes all entries with an error, as the database was released without being closed.
    private func refuseAll() {
        let entries = monitor.broadcast { state in
            defer { (state.entries, state.isScheduled) = ([], false) }
            return state.entries
        }
        for entry in entries { entry.refuse(WriteQueue.closed) }
    }

    /// Has the database prepare the file before the first write, which may take minutes for a large file.
    private func prepare(_ writer: any WriteBackend) {
        guard !monitor.withLock({ $0.isPrepared }) else { return }
        let body = { [self] in
            writer.prepare { [self] in
                refuseUnprepared()
                return !monitor.withLock { $0.isClosed }
            }
        }
        if threads.occupying(body) == nil { body() }
        monitor.withLock { $0.isPrepared = true }
    }

    /// Runs an interactive transaction, which waits for its client for most of its time.
    private func begin(_ request: BeginRequest, _ writer: any WriteBackend) {
        guard !monitor.withLock({ $0.isClosed }) else { return request.completion(.failure(WriteQueue.closed)) }
        let isBegun: Void? = threads.occupying {
            hold([request.submitted]) { InteractiveTransaction.run(request, on: self, writer) }
        }
        guard isBegun == nil else { return }
        var error = WriteError(.overloaded, "too many interactive transactions are open in all realms together")
        error.limit = SharedThreads.occupiedLimit
        error.retryAfter = .seconds(1)
        request.completion(.failure(error))
    }

    /// The time without work after which the file is compared with what this process last saw of it, and the
    /// thread leaves the queue.
    private static let pause = Duration.milliseconds(5)

    /// Waits a moment for work; nil when there is none, and the thread does not work for the queue any more.
    private func next(_ writer: any WriteBackend) -> Work? {
        if let work = waitForWork(for: threads.isCrowded ? .zero : WriteQueue.pause) { return work }
        writer.didPause()
        return monitor.broadcast { state in
            if let work = dequeue(&state) { return work }
            state.isScheduled = false
            return nil
        }
    }

    /// Waits for work for the given time; nil when none arrives or the queue is closed.
    private func waitForWork(for time: Duration) -> Work? {
        let work = monitor.wait(until: Instant.now().adding(time)) { state -> Work?? in
            if let work = dequeue(&state) { return work }
            return state.isClosed ? .some(nil) : nil
        }
        return work ?? nil
    }

    /// Leaves the thread to other realms and requests another turn; false when that is not possible.
    private func passesThreadOn() -> Bool { (try? threads.submit { [self] in run() }) != nil }

    /// Removes the next work from the queue; nil when it is empty.
    private func dequeue(_ state: inout State) -> Work? {
        guard !state.entries.isEmpty else { return nil }
        // Between two interactive transactions the waiting writes are next.
        let jobs = takeGroup(&state, passingBegins: state.comesFromTransaction)
        state.group = jobs
        state.comesFromTransaction = false
        guard jobs.isEmpty else { return .group(jobs) }
        guard let request = takeBegin(&state) else { return nil }
        state.comesFromTransaction = true
        state.lastClient = request.client
        return .begin(request)
    }

    /// Removes the interactive transaction that begins next: one of another client than the last, if there is one.
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

    /// Removes the next group of writes.
    ///
    /// - Parameters:
    ///   - passingBegins: Whether writes that arrived after a request for an interactive transaction
    ///     are included, too.
    /// - Returns: The writes up to the next that must be alone, or up to the next request for a
    ///   transaction.
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

    /// Runs a group; writes for which it had no room are put back at the front of the queue.
    private func perform(_ jobs: [WriteJob], _ writer: any WriteBackend) {
        let body = { [self] in hold(jobs.map(\.submitted)) { run(jobs, writer) } }
        // A write that must be alone, such as a migration, may take an hour.
        let left = jobs.first?.request.isAlone == true ? threads.occupying(body) ?? body() : body()
        monitor.withLock { state in
            state.group = []
            state.entries.insert(contentsOf: left.map(Entry.job), at: 0)
            if let end = left.lazy.map({ [limits] in Entry.job($0).waitEnds(limits) }).min() { watch(until: end, &state) }
        }
    }

    /// Runs a group and the writes that join it.
    ///
    /// - Returns: The writes for which it had no room.
    private func run(_ jobs: [WriteJob], _ writer: any WriteBackend) -> [WriteJob] {
        guard jobs.first?.request.isAlone == false else { return WriteGroup(jobs, writer, limits) { _ in [] }.run() }
        let lastCount = monitor.withLock { $0.lastGroupCount }
        let begin = Instant.now()
        var count = jobs.count
        let left = WriteGroup(jobs, writer, limits) { [self] present in
            let now = Instant.now()
            guard now.seconds(since: begin) < WriteQueue.joiningSeconds else { return [] }
            let awaits = lastCount >= WriteQueue.awaitedCount && present < lastCount
            let end = awaits ? now.adding(seconds: WriteQueue.awaitingSeconds) : now
            let joined = monitor.wait(until: end) { state in takeJoining(&state, besides: present) } ?? []
            for job in joined { metrics.noteWait(now.seconds(since: job.submitted)) }
            count += joined.count
            return joined
        }.run()
        monitor.withLock { $0.lastGroupCount = count - left.count }
        return left
    }

    /// The time from the beginning of a group in which writes may join it.
    private static let joiningSeconds = 0.002
    /// The seconds that a group smaller than the last one waits for another write: the clients that were answered last are likely
    /// to send the next one now, and one commit for all of them takes less than two.
    private static let awaitingSeconds = 0.0001
    /// The number of writes in the last group from which on others are waited for.
    private static let awaitedCount = 4

    /// Removes the writes that may join a group; nil when there are none.
    private func takeJoining(_ state: inout State, besides present: Int) -> [WriteJob]? {
        var jobs: [WriteJob] = []
        while case .job(let job)? = state.entries.first, !job.request.isAlone, present + jobs.count < limits.groupJobs {
            jobs.append(job)
            state.entries.removeFirst()
        }
        state.group += jobs
        return jobs.isEmpty ? nil : jobs
    }

    /// Runs an operation with the writer, and records how long it took and how long its writes had waited. Writes that are put
    /// back start a new wait.
    private func hold<Result>(_ submissions: [Instant], _ body: () -> Result) -> Result {
        let begin = Instant.now()
        for submitted in submissions { metrics.noteWait(begin.seconds(since: submitted)) }
        defer { metrics.noteHold(Instant.now().seconds(since: begin)) }
        return body()
    }

    /// Rejects entries that have waited too long for the check of a file before its first write.
    private func refuseUnprepared() {
        guard monitor.withLock({ !$0.entries.isEmpty }) else { return }
        refuseImpatient(WriteQueue.unprepared)
    }

    /// The error for entries that cannot wait for the check of a file before its first write.
    private static let unprepared: WriteError = {
        var error = WriteError(.realmUnavailable, "the file is being checked before it is written to")
        error.retryAfter = .seconds(5)
        return error
    }()

    /// Rejects entries that have waited too long for an interactive transaction.
    func refuseImpatient(_ interactive: InteractiveTransaction.State) { refuseImpatient(WriteQueue.busy(interactive)) }

    /// Completes all entries whose waiting time has passed with an error.
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

/// The interactive transactions that have ended, remembered so that later requests get a precise error.
///
/// It is guarded by the monitor of the queue.
struct EndedTransactions {
    /// The transactions by their ids, with the instant until which they are remembered.
    private var infos: [ByteText: (info: TransactionInfo, until: Instant)] = [:]
    /// The ids, oldest first.
    private var order: Deque<String> = []

    /// Remembers a transaction, and forgets those that are too old or too many.
    mutating func insert(_ info: TransactionInfo, _ limits: WriteLimits) {
        infos[info.id] = (info, Instant.now().adding(limits.rememberedTime))
        order.append(info.id)
        while let oldest = order.first, order.count > limits.rememberedCount || isOver(oldest) {
            infos[oldest] = nil
            order.removeFirst()
        }
    }

    /// Returns whether the time for which a transaction is remembered has passed.
    private func isOver(_ id: String) -> Bool { infos[id].map { $0.until <= Instant.now() } ?? true }

    /// The transaction with the given id; nil when it is unknown, forgotten or has another owner. A nil owner accepts all.
    subscript(id: String, owner: String?) -> TransactionInfo? {
        guard let entry = infos[id], entry.until > Instant.now(), owner == nil || entry.info.owner == owner else { return nil }
        return entry.info
    }

    /// Changes the state of a remembered transaction: one that was aborted may still be rolled back by its client.
    mutating func setState(_ state: TransactionInfo.State, of id: String) { infos[id]?.info.state = state }
}
