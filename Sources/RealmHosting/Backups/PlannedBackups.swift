// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmBackups
internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Backs the realms of a server up by a plan.
///
/// A separate thread makes the copies, one after another, so that neither the daemon nor a worker waits for the store. A realm
/// that has not changed since its newest backup is left out: this server knows the versions that it has stored, and of others it
/// compares the bytes of the copy with those in the store. A backup that fails is counted, logged and shown; writes and reads
/// continue, and the next round retries.
///
/// There is one in a server with a plan. Any thread may call it; a mutex guards its state.
package final class PlannedBackups: Sendable {
    /// The state of the backups of one realm.
    package struct Status: Sendable {
        /// The version that the store is known to have, with its epoch; nil when nothing is known.
        fileprivate var stored: VersionToken?
        /// The state of the file when it was backed up last; nil when that is unknown.
        fileprivate var facts: System.FileFacts?
        /// Whether a copy is being made or stored at present.
        var isRunning = false
        /// The reason for the failure of the last attempt; nil when it succeeded.
        var lastError: String?
        /// The time of the newest known backup.
        var lastSuccess: WallClock?
    }

    /// The realms by name, and counters.
    private struct State {
        /// Cancels the copy that is being made; nil when there is none.
        var control: WorkControl?
        /// The state of each realm.
        var statuses: [ByteText: Status] = [:]
        /// The number of backups that were stored since the start of the server.
        var successes = 0
        /// The number of backups that failed since the start of the server.
        var failures = 0
    }

    /// The longest wait of `stop`, in seconds, for a backup that is being cancelled.
    private static let patienceSeconds = 5.0

    private let thread = ServiceThread("backups", stackBytes: 1 << 20)
    private let state = RankedMutex(.leaf, State())
    /// The schedule, the target and the retention.
    let plan: BackupPlan
    /// The realms of the server.
    private let catalog: Catalog
    /// The log, which gets a line for each failure; nil without a log.
    private let log: AccessLog?
    /// The audit log, which gets a line for each attempt; nil without one.
    private let audit: AuditLog?

    /// Makes the backups of a plan. Nothing happens before `start`.
    ///
    /// - Parameters:
    ///   - plan: The schedule, the target and the retention.
    ///   - catalog: The realms of the server.
    ///   - log: The log; nil for none.
    ///   - audit: The audit log; nil for none.
    package init(_ plan: BackupPlan, _ catalog: Catalog, log: AccessLog?, audit: AuditLog? = nil) {
        self.audit = audit
        self.plan = plan
        self.catalog = catalog
        self.log = log
    }

    // MARK: - The thread

    /// Starts the thread, which begins with the first round. Later calls are no-ops.
    ///
    /// - Throws: `Threads.Failure` when the system provides no thread.
    func start() throws(Threads.Failure) { try thread.start { [self] in run() } }

    /// Ends the thread, and cancels a backup that is being made. It waits up to five seconds.
    func stop() {
        thread.stop()
        state.withLock { $0.control?.cancel() }
        thread.waitForEnd(until: Instant.now().adding(seconds: PlannedBackups.patienceSeconds))
    }

    /// The loop of the thread.
    private func run() {
        var next = Instant.now()
        while !thread.rest(until: next) {
            next = next.adding(plan.every)
            backUpAll()
            // Rounds that took longer than the interval are not made up for.
            if next < Instant.now() { next = Instant.now() }
        }
    }

    /// Forgets realms that are no longer served.
    private func forget(except names: Set<ByteText>) {
        state.withLock { $0.statuses = $0.statuses.filter { names.contains($0.key) } }
    }

    // MARK: - One round

    /// Backs up all realms that have changed, one after another, and returns when that is done. The thread
    /// calls it in each round; nothing else does while that runs.
    package func backUpAll() {
        var names: Set<ByteText> = []
        var last: String?
        repeat {
            let page = catalog.page(after: last, limit: PlannedBackups.pageSize)
            for (name, state) in page.realms {
                names.insert(name)
                backUp(name, state)
            }
            last = page.hasMore ? page.realms.last?.name : nil
        } while last != nil
        forget(except: names)
    }

    /// The number of realms that are checked together.
    private static let pageSize = 1000

    /// Backs up a realm. A closed one is opened if its file has changed since it was backed up last.
    private func backUp(_ name: String, _ state: Catalog.State) {
        switch state {
        case .ready(let database): backUp(database)
        case .closed(let realm):
            let facts = try? System.facts(path: realm.path)
            let status = self.status(of: name)
            guard facts == nil || status.facts != facts || status.lastError != nil else { return }
            guard !thread.isStopped else { return }
            switch catalog.openNow(name) {
            case .settled(.ready(let database)?): backUp(database)
            case .settled(.failed(let error)?): end(name, error)
            // The next round tries again when all realms are in use.
            case .settled, .tooMany: break
            }
        case .opening, .failed: break
        }
    }

    // MARK: - One backup

    /// Stores a backup of the newest version of a realm, unless the store has it, and removes the surplus.
    private func backUp(_ database: Database) {
        guard database.mode != .copy, !database.path.isEmpty else { return }
        let facts = try? System.facts(path: database.path)
        let control = WorkControl()
        let version = database.current
        let realm = database.name.text
        let known = state.withLock { state -> Status? in
            let status = state.statuses[realm] ?? Status()
            // After a failure the surplus may still be there.
            guard !thread.isStopped, status.stored != version.token || status.lastError != nil else { return nil }
            state.control = control
            state.statuses[realm] = status
            state.statuses[realm]?.isRunning = true
            return status
        }
        guard let known else { return }
        do throws(StorageError) {
            if known.stored != version.token {
                // Versions of another opening of the file may be those of another file with the same numbers.
                let isComparable = known.stored?.epoch == version.token.epoch
                let newest = isComparable ? nil : try plan.store.names(of: database.name).first
                try store(version, of: database, unlessLike: newest, control)
            }
            try removeSurplus(of: database.name)
            end(realm, nil)
            state.withLock { $0.statuses[realm]?.facts = facts }
        } catch {
            end(realm, error)
        }
    }

    /// Stores a version, unless the newest backup in the store has the same bytes.
    private func store(
        _ version: Version, of database: Database, unlessLike newest: BackupName?, _ control: WorkControl
    ) throws(StorageError) {
        let name = BackupName(realm: database.name, time: plan.clock(), version: version.snapshot.version)
        let options = Database.CopyOptions(key: plan.key ?? database.key, control: control)
        let same = newest?.version == name.version ? newest : nil
        let stored = try plan.store.add(name, unlessLike: same, control) { backend throws(StorageError) in
            try database.writeCopy(of: version.snapshot.whole, to: backend, options)
        }
        let isStored = stored != nil
        let seconds = isStored ? name.seconds : same?.seconds ?? name.seconds
        state.withLock { state in
            if isStored { state.successes += 1 }
            state.statuses[database.name.text]?.stored = version.token
            state.statuses[database.name.text]?.lastSuccess = WallClock(nanoseconds: seconds * 1_000_000_000)
        }
    }

    /// Removes the backups of a realm that need not be kept.
    private func removeSurplus(of realm: RealmName) throws(StorageError) {
        guard let retention = plan.retention else { return }
        for old in retention.surplus(of: try plan.store.names(of: realm)) { try plan.store.delete(old) }
    }

    /// Records the end of an attempt.
    private func end(_ realm: String, _ error: StorageError?) {
        let isStopped = thread.isStopped
        state.withLock { state in
            state.control = nil
            state.statuses[realm]?.isRunning = false
            state.statuses[realm]?.lastError = error?.description
            if error != nil, !isStopped { state.failures += 1 }
        }
        var entry = AuditEntry(kind: .backup)
        (entry.realm, entry.state) = (realm, error == nil ? "made" : "failed")
        audit?.append(entry)
        guard let error, !isStopped else { return }
        log?.note("backup_failed", realm: realm, "\(error)", level: .error)
    }

    // MARK: - Status for clients

    package func status(of realm: String) -> Status { state.withLock { $0.statuses[realm] } ?? Status() }

    /// Writes two counters: the backups that were stored, and those that failed.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let (successes, failures) = state.withLock { ($0.successes, $0.failures) }
        text.counter("backups_total", "Planned backups that were stored.", successes)
        text.counter("backup_failures_total", "Planned backups that failed.", failures)
    }
}

extension PlannedBackups.Status {
    /// Writes the members `state`, `lastError` and `lastSuccess` of the list of backups.
    ///
    /// - Parameters:
    ///   - writer: The writer, inside of an object.
    ///   - failure: The reason why the store could not be listed just now; nil when it was.
    package func write(to writer: inout JSONWriter, _ failure: StorageError?) {
        let problem = failure?.description ?? lastError
        let rest = lastSuccess == nil ? "none" : "ok"
        writer.member("state", text: isRunning ? "running" : problem != nil ? "failed" : rest)
        if let problem { writer.member("lastError", text: problem) }
        if let lastSuccess { writer.member("lastSuccess", time: lastSuccess) }
    }
}
