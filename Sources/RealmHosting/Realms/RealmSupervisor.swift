// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmCalls
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Watches for files that another program changes while they are served, and closes and reopens their realms.
///
/// One thread checks the files of all realms every two seconds. Requests also report changes that they notice, through `fail`. A
/// realm whose file is no longer the one that was opened is closed, and opened again under a new epoch when that succeeds. A
/// realm that could not be opened at the start is retried in the same way. Workers close and open, so the thread never waits for
/// a file.
///
/// There is one for a server. Any thread may call it; a `Monitor` guards its state.
package final class RealmSupervisor: Sendable {
    /// The work in progress of the thread and the workers, with counters for the metrics.
    private struct State {
        /// Realms that have failed and are not closed yet. `stop` closes them when no worker gets to it.
        var closing: [ObjectIdentifier: Database] = [:]
        /// The number of realms that are being opened again at this moment.
        var reviving = 0
        /// The number of realms that failed since the start of the server.
        var failures = 0
        /// The number of realms that were opened again since the start of the server.
        var revivals = 0
        /// The number of realms that were closed because they were unused.
        var closings = 0
    }

    /// The seconds between two checks of the files of all realms.
    private static let pauseSeconds = 2.0
    /// The longest wait of `stop`, in seconds, for realms that are being opened.
    private static let patienceSeconds = 5.0

    /// Checks the files. Nothing is opened after it was stopped.
    private let thread = ServiceThread("supervisor")
    private let monitor = Monitor(State())
    /// The realms whose files are checked.
    private let catalog: Catalog
    /// The snapshot leases, which end with a realm that fails.
    private let pinned: PinnedVersions
    /// The streams and polls, which end with a realm that fails.
    private let notifications: ChangeService
    /// The access log, which gets a line for each failure and each reopening; nil without a log.
    private let log: AccessLog?
    /// The pool that closes and opens realms, which waits for files.
    private let workers: WorkerPool
    /// The options of the server, of which the time without use counts after which a realm is closed.
    private let options: LiveOptions

    /// Makes the supervisor of the realms in a catalog. It does nothing until it is started.
    ///
    /// - Parameters:
    ///   - catalog: The realms to watch.
    ///   - pinned: The snapshot leases of all realms.
    ///   - notifications: The streams and polls of all realms.
    ///   - workers: The pool for closing and opening.
    ///   - options: The options of the server, with the time without use after which a realm is closed.
    ///   - log: The log for failures and reopenings; nil for none.
    package init(
        catalog: Catalog, pinned: PinnedVersions, notifications: ChangeService, workers: WorkerPool, options: LiveOptions,
        log: AccessLog?
    ) {
        self.catalog = catalog
        self.pinned = pinned
        self.notifications = notifications
        self.workers = workers
        self.options = options
        self.log = log
        catalog.whenReleasing { [notifications] id in notifications.release(id) }
    }

    // MARK: - The thread

    /// Starts the thread that checks all files every two seconds. Later calls are no-ops.
    ///
    /// - Throws: `Threads.Failure` when the system provides no thread.
    package func start() throws(Threads.Failure) { try thread.start { [self] in run() } }

    /// Ends the thread and closes the realms that have failed.
    ///
    /// It waits up to five seconds for realms that are being opened at the moment. No realm is
    /// opened after this has returned, except for one that took longer than that.
    package func stop() {
        thread.stop()
        let closing = monitor.withLock { state -> [Database] in
            defer { state.closing = [:] }
            return Array(state.closing.values)
        }
        for database in closing { database.close() }
        let end = Instant.now().adding(seconds: RealmSupervisor.patienceSeconds)
        thread.waitForEnd(until: end)
        _ = monitor.wait(until: end) { state -> Bool? in state.reviving == 0 ? true : nil }
    }

    /// The loop of the thread: checks every open realm, and retries the failed ones whose time has come.
    private func run() {
        var reported: Set<ByteText> = []
        var schedule = CompactionSchedule()
        while !thread.rest(until: Instant.now().adding(seconds: RealmSupervisor.pauseSeconds)) {
            // A realm that this thread refers to cannot be closed, so it refers to one at a time.
            for name in catalog.openNames {
                guard let database = catalog.database(name) else { continue }
                reportReadOnly(database, &reported)
                if let failure = database.health.checkFile() { fail(database, failure) }
            }
            for name in catalog.takeDue() { revive(name) }
            for database in schedule.due(among: catalog.databases) { compact(database) }
            closeUnused()
            catalog.closeExcess()
            do throws(RealmFiles.Failure) {
                try catalog.folder?.refresh()
            } catch {
                log?.note("data_folder_unreadable", realm: "", error.description, level: .error)
            }
            catalog.forgetMissing()
            for path in catalog.folder?.takeHidden() ?? [] {
                log?.note("realm_hidden", realm: RealmName(file: path)?.text ?? "", RealmSupervisor.hidden(path), level: .warning)
            }
        }
    }

    /// A sentence about a file that is not served because another one of the same name is.
    package static func hidden(_ path: String) -> String {
        "\(path): not served: a file of the same name is in a folder before it"
    }

    /// Logs once per epoch that a realm is read-only although that was not requested.
    private func reportReadOnly(_ database: Database, _ reported: inout Set<ByteText>) {
        guard let reason = database.readOnlyReason, reported.insert(database.epoch.text).inserted else { return }
        log?.note("realm_read_only", realm: database.name.text, "\(reason)", level: .warning)
    }

    /// Closes realms that were unused for the configured time.
    private func closeUnused() {
        let seconds = options.current.idleSeconds
        guard seconds > 0 else { return }
        for name in catalog.idle(forSeconds: seconds) {
            work { [self] in closeUnused(name) }
        }
    }

    /// Closes a realm, unless it is in use: then its idle time starts again.
    private func closeUnused(_ name: String) {
        guard !catalog.closeIfUnused(name) else {
            monitor.withLock { $0.closings += 1 }
            return
        }
        catalog.database(name)?.noteUse(.now())
    }

    /// Compacts a realm; a failure is logged, and leaves everything as it is.
    private func compact(_ database: Database) {
        work { [log, catalog] in
            let control = WorkControl()
            catalog.work(on: database.name.text, control) {
                database.compact(wait: .seconds(1), control) { result in
                    guard case .failure(let error) = result, !control.isCancelled else { return }
                    log?.note("compaction_failed", realm: database.name.text, "\(error)", level: .warning)
                }
            }
        }
    }

    /// Runs a job on a worker, or on a new thread if the pool takes no more, or on this thread if the system provides none.
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

    /// Marks a realm as failed because its file has changed. Returns at once: a worker closes it and tries to open it again.
    ///
    /// Only the first call for a database has an effect, so any number of requests may report the same failure.
    ///
    /// - Parameters:
    ///   - database: The open realm.
    ///   - error: The error that was noticed. It goes to the log and to the realm's document.
    package func fail(_ database: Database, _ error: StorageError) {
        guard catalog.fail(database, error) else { return }
        log?.note("realm_failed", realm: database.name.text, "\(error)", level: .error)
        monitor.withLock { state in
            state.failures += 1
            state.closing[ObjectIdentifier(database)] = database
        }
        work { [self] in close(database, error) }
    }

    /// Takes a realm out of service like `fail(_:_:)`, and returns the problem for a request for it: `realm_not_found` where it
    /// was detached in the meantime.
    package func problem(of database: Database, _ error: StorageError) -> Problem {
        guard !catalog.isDetached(database) else { return .noRealm }
        fail(database, error)
        return Problem(unavailable: error)
    }

    /// Ends everything that uses a failed realm, closes it, and tries to open it again if its time has come.
    private func close(_ database: Database, _ error: StorageError) {
        pinned.free(database)
        notifications.close(database, failing: Problem(unavailable: error))
        database.close()
        // A client may have subscribed between the first call and the closing.
        notifications.close(database, failing: Problem(unavailable: error))
        catalog.didClose(database.name.text)
        if error.isForeign(catalog.isReplicated(database.name.text)) { catalog.setAside(database.name) }
        monitor.withLock { $0.closing[ObjectIdentifier(database)] = nil }
        if !thread.isStopped, catalog.take(database.name.text, .now()) { reviveNow(database.name.text) }
    }

    // MARK: - Reopened realms

    /// Records that a request wants a realm that has failed, and tries to open it again unless that was tried too recently.
    ///
    /// - Parameters:
    ///   - now: The time of the request, from which the catalog decides whether another attempt is
    ///     due.
    package func noteRequest(_ name: String, _ now: Instant) {
        if catalog.take(name, now) { revive(name) }
    }

    /// Lets a worker reopen a failed realm.
    private func revive(_ name: String) {
        work { [self] in reviveNow(name) }
    }

    /// Opens a failed realm again, on this thread, unless that was tried too recently. Called on a worker, by a request
    /// that waits for the outcome.
    package func wait(for name: String, _ now: Instant) {
        if catalog.take(name, now) { reviveNow(name) }
    }

    /// Opens a failed realm again, on this thread, unless the server is stopping.
    private func reviveNow(_ name: String) {
        let isWanted = monitor.withLock { state -> Bool in
            guard !thread.isStopped else { return false }
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

    // MARK: - Metrics

    /// Writes three counters: of realms that failed because their file changed, were reopened, and were closed because they were
    /// unused.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let (failures, revivals, closings) = monitor.withLock { ($0.failures, $0.revivals, $0.closings) }
        text.counter("realm_idle_closings_total", "Idle realms that were closed.", closings)
        text.counter("realm_failures_total", "Realms whose file another program changed.", failures)
        text.counter("realm_reopenings_total", "Realms that had failed and were opened again.", revivals)
    }
}

extension StorageError {
    /// Whether a realm no longer belongs to this server, so that it is not reopened automatically.
    ///
    /// - Parameter isReplicated: Whether it is a cache of a log, which may have forgotten it.
    fileprivate func isForeign(_ isReplicated: Bool) -> Bool {
        switch self {
        case .refused(.notOwner): return true
        case .refused(.fileNotFound): return isReplicated
        default: return false
        }
    }
}

/// Finds realms that are to be compacted, at moments at which nothing is written to them.
///
/// The supervisor's thread asks at intervals; the value is used on that thread only.
private struct CompactionSchedule {
    private struct Seen {
        /// The newest version.
        var version: UInt64
        /// The instant from which on it has been the newest, or the next attempt is due.
        var since: Instant
    }

    /// The seconds without writes that are required.
    private static let quietSeconds = 5.0
    /// The seconds before a compaction that failed is retried.
    private static let retrySeconds = 60.0

    /// The last observed state, by the epoch of the realm.
    private var seen: [ByteText: Seen] = [:]

    /// Returns the realms that are to be compacted now.
    ///
    /// - Parameter databases: All open realms; the state of others is forgotten.
    mutating func due(among databases: [Database], _ now: Instant = .now()) -> [Database] {
        var next: [ByteText: Seen] = [:]
        var due: [Database] = []
        for database in databases where database.compactsItself {
            let version = database.current.token.version
            var state = seen[database.epoch.text] ?? Seen(version: version, since: now)
            if state.version != version { state = Seen(version: version, since: now) }
            let isQuiet = now >= state.since.adding(seconds: CompactionSchedule.quietSeconds)
            if isQuiet, database.pendingWrites == 0, database.openTransaction == nil, database.wantsCompaction {
                due.append(database)
                state.since = now.adding(seconds: CompactionSchedule.retrySeconds)
            }
            next[database.epoch.text] = state
        }
        seen = next
        return due
    }
}
