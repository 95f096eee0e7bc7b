// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// Looks after files that change underneath: one thread for all realms looks at them every two seconds, and requests
/// say what they meet. A realm whose file is not what it was is closed, and opened again under a new epoch when that
/// succeeds; so is one that could not be opened at the start. Both are done by workers.
final class RealmCaretaker: Sendable {
    private struct State {
        var isRunning = false
        var isStopped = false
        /// Realms that have failed and are not closed yet.
        var closing: [ObjectIdentifier: Database] = [:]
        /// How many realms are being opened.
        var reviving = 0
        var failures = 0
        var revivals = 0
    }

    private static let pauseSeconds = 2.0
    /// How long the end of the server waits for realms that are being opened.
    private static let patienceSeconds = 5.0

    private let monitor = Monitor(State())
    private let catalog: Catalog
    private let pinned: PinnedVersions
    private let notifications: ChangeService
    private let log: AccessLog?
    /// Threads that may wait.
    private let workers: WorkerPool

    /// A caretaker for the realms of `catalog`. It does nothing until it is started.
    init(
        catalog: Catalog, pinned: PinnedVersions, notifications: ChangeService, workers: WorkerPool, log: AccessLog?
    ) {
        self.catalog = catalog
        self.pinned = pinned
        self.notifications = notifications
        self.workers = workers
        self.log = log
    }

    // MARK: - The thread

    /// Starts the thread that looks at all files every two seconds. Further calls do nothing.
    func start() throws(Threads.Failure) {
        let isFirst = monitor.withLock { state -> Bool in
            defer { state.isRunning = true }
            return !state.isRunning && !state.isStopped
        }
        if isFirst { try Threads.start("caretaker", stackBytes: 512 << 10) { [self] in run() } }
    }

    /// Ends the thread, and closes what has failed. Nothing is opened any more when this returns.
    func stop() {
        let closing = monitor.broadcast { state -> [Database] in
            state.isStopped = true
            defer { state.closing = [:] }
            return Array(state.closing.values)
        }
        for database in closing { database.close() }
        let end = Instant.now().adding(seconds: RealmCaretaker.patienceSeconds)
        _ = monitor.wait(until: end) { state -> Bool? in !state.isRunning && state.reviving == 0 ? true : nil }
    }

    private func run() {
        var told: Set<String> = []
        while !isStopped(within: RealmCaretaker.pauseSeconds) {
            for database in catalog.databases {
                tellReadOnly(database, &told)
                if let failure = database.health.look() { fail(database, failure) }
            }
            for name in catalog.takeDue() { revive(name) }
        }
        monitor.broadcast { $0.isRunning = false }
    }

    /// A line in the log about a realm that is only read, for a reason that nobody has asked for.
    private func tellReadOnly(_ database: Database, _ told: inout Set<String>) {
        guard let reason = database.readOnlyReason, told.insert(database.epoch.text).inserted else { return }
        log?.note("realm_read_only", realm: database.name.text, "\(reason)", level: .warning)
    }

    private func isStopped(within seconds: Double) -> Bool {
        monitor.wait(until: Instant.now().adding(seconds: seconds)) { state -> Bool? in state.isStopped ? true : nil } ?? false
    }

    /// Has a worker do something, or a thread of its own when no worker takes it. A server that ends and gets no thread
    /// any more does it at once.
    private func work(_ job: @escaping @Sendable () -> Void) {
        let isQueued = workers.submitContinuation(for: WorkerPool.server, job)
        guard !isQueued else { return }
        do throws(Threads.Failure) {
            try Threads.start("reopen", job)
        } catch {
            job()
        }
    }

    // MARK: - Realms that fail

    /// The file of a realm is not what it was. Returns at once; closing and opening again are done later.
    func fail(_ database: Database, _ error: StorageError) {
        guard catalog.fail(database, error) else { return }
        log?.note("realm_failed", realm: database.name.text, "\(error)", level: .error)
        monitor.withLock { state in
            state.failures += 1
            state.closing[ObjectIdentifier(database)] = database
        }
        work { [self] in close(database, error) }
    }

    private func close(_ database: Database, _ error: StorageError) {
        pinned.free(database)
        notifications.close(database, failing: Problem(unavailable: error))
        database.close()
        // Whoever came in between finds a realm that is closed.
        notifications.close(database, failing: Problem(unavailable: error))
        catalog.didClose(database.name.text)
        let isStopped = monitor.withLock { state -> Bool in
            state.closing[ObjectIdentifier(database)] = nil
            return state.isStopped
        }
        if !isStopped, catalog.take(database.name.text, .now()) { reviveNow(database.name.text) }
    }

    // MARK: - Realms that come back

    /// Somebody has asked for a realm that failed.
    func noteWish(_ name: String, _ now: Instant) {
        if catalog.take(name, now) { revive(name) }
    }

    private func revive(_ name: String) {
        work { [self] in reviveNow(name) }
    }

    private func reviveNow(_ name: String) {
        let isWanted = monitor.withLock { state -> Bool in
            guard !state.isStopped else { return false }
            state.reviving += 1
            return true
        }
        guard isWanted else { return }
        let state = catalog.revive(name)
        if case .ready(let database)? = state { log?.note("realm_opened", realm: name, database.current.tokenText, level: .info) }
        monitor.broadcast { inner in
            inner.reviving -= 1
            if case .ready? = state { inner.revivals += 1 }
        }
    }

    // MARK: - Figures

    /// Writes how often realms failed and were opened again.
    func write(to text: inout MetricsText) {
        let (failures, revivals) = monitor.withLock { ($0.failures, $0.revivals) }
        text.single("realm_failures_total", .counter, help: "Realms whose file changed underneath.", value: Double(failures))
        text.single(
            "realm_reopenings_total", .counter, help: "Realms that had failed and were opened again.", value: Double(revivals))
    }
}
