// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmBackups
package import RealmEngine
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Ships the commits of all realms of a server to a folder or a bucket, without any write waiting for it.
///
/// One thread stores waiting commits, realm by realm. A store that is down is retried with growing pauses; until then records
/// wait in memory up to a limit, beyond which a base takes their place. Failures are counted and logged.
///
/// There is one in a server with a plan. Any thread may call it; a mutex guards its state.
package final class ShipService: Sendable {
    /// The state of one realm.
    private struct Realm {
        /// Keeps its records and stores them.
        let shipper: RealmShipper
        /// The time of the next attempt after a failure; nil when it has not failed.
        var nextAttempt: Instant?
        /// The seconds of the last pause.
        var pause = 0.0
        /// Whether its commits cannot be shipped at all.
        var isRefused = false
    }

    /// The realms by name, and counters since the start of the server.
    private struct State {
        var realms: [ByteText: Realm] = [:]
        /// Cancels the transfer that is running; nil when there is none.
        var control: WorkControl?
        var total = RealmShipper.Progress()
        var failures = 0
    }

    /// The pauses after failures grow up to so many seconds.
    private static let longestPause = 30.0
    /// The seconds for which `stop` continues to store waiting commits.
    private static let patienceSeconds = 5.0
    /// The number of realms that are checked together.
    private static let pageSize = 1000

    private let thread = ServiceThread("shipping", stackBytes: 1 << 20)
    private let state = RankedMutex(.leaf, State())
    private let plan: ShipPlan
    private let store: any BackupStore
    private let catalog: Catalog
    private let budget: ShipBudget
    /// The log, which gets a line for each failure; nil without a log.
    private let log: AccessLog?

    /// Makes the service. Realms are followed from their opening on, and nothing is stored before `start`.
    ///
    /// - Parameters:
    ///   - plan: The delay and the retention.
    ///   - store: The target of the shipped commits.
    ///   - catalog: The realms of the server.
    ///   - queueBytes: The memory that waiting records may take.
    ///   - log: The log; nil for none.
    package init(_ plan: ShipPlan, to store: any BackupStore, _ catalog: Catalog, queueBytes: Int, log: AccessLog?) {
        self.plan = plan
        self.store = store
        self.catalog = catalog
        self.log = log
        budget = ShipBudget(limit: queueBytes)
    }

    /// Follows a realm that was opened. It is called before anything can be written to it.
    package func attach(_ database: Database) {
        guard database.mode == .readWrite, !database.path.isEmpty, database.isWritable else { return }
        let name = database.name
        let shipper = state.withLock { state -> RealmShipper in
            if let known = state.realms[name.text] { return known.shipper }
            let shipper = RealmShipper(name, budget)
            state.realms[name.text] = Realm(shipper: shipper)
            return shipper
        }
        do throws(StorageError) {
            try shipper.attach(database)
            state.withLock { $0.realms[name.text]?.isRefused = false }
        } catch {
            state.withLock { $0.realms[name.text]?.isRefused = true }
            log?.note("ship_failed", realm: name.text, "\(error)", level: .error)
        }
    }

    // MARK: - The thread

    /// Follows the realms that are open already, and starts the thread.
    ///
    /// - Throws: `Threads.Failure` when the system provides no thread.
    package func start() throws(Threads.Failure) {
        for database in catalog.databases where state.withLock({ $0.realms[database.name.text] == nil }) { attach(database) }
        try thread.start { [self] in run() }
    }

    /// Stores waiting commits for up to five seconds, and ends the thread. The realms are closed already.
    package func stop() {
        thread.stop()
        if thread.waitForEnd(until: Instant.now().adding(seconds: ShipService.patienceSeconds)) { return }
        state.withLock { $0.control }?.cancel()
        thread.waitForEnd(until: Instant.now().adding(seconds: 1))
    }

    /// The loop of the thread.
    private func run() {
        var toLook: String?? = .some(nil)
        while !thread.rest(until: Instant.now().adding(plan.every)) {
            if let after = toLook { toLook = lookAtClosed(after: after) }
            shipAll()
        }
        // There are no more commits: one last round.
        state.withLock { state in for name in state.realms.keys { state.realms[name]?.nextAttempt = nil } }
        shipAll()
    }

    /// Opens those of the next closed realms of which the store does not have the newest version, according to their times.
    ///
    /// - Parameter last: The name of the realm after which to begin; nil for the first.
    /// - Returns: The name to continue after, as the parameter; nil when all were checked.
    private func lookAtClosed(after last: String?) -> String?? {
        let page = catalog.page(after: last, limit: ShipService.pageSize)
        for (name, state) in page.realms {
            guard case .closed(let realm) = state, let facts = try? System.facts(path: realm.path) else { continue }
            guard !thread.isStopped else { return nil }
            let newest = (try? store.shipped(of: realm.name))?.map(\.name.seconds).max()
            if let newest, newest >= facts.modified / 1_000_000_000 { continue }
            _ = catalog.openNow(name)
        }
        return page.hasMore ? page.realms.last.map { $0.name } : nil
    }

    /// Stores the waiting commits of all realms.
    private func shipAll() {
        let now = Instant.now()
        let due = state.withLock { state in
            state.realms.values.filter { !$0.isRefused && $0.nextAttempt.map { $0 <= now } ?? true }
        }
        for realm in due where realm.shipper.isBehind { ship(realm.shipper) }
    }

    /// Stores the waiting commits of one realm.
    private func ship(_ shipper: RealmShipper) {
        let name = shipper.name.text
        if shipper.needsBase, shipper.database == nil {
            // Bases are made of open realms; one that lacks no commits waits until it is used.
            guard shipper.behindSince != nil, !thread.isStopped, isOpened(name) else { return }
        }
        let control = WorkControl()
        state.withLock { $0.control = control }
        var progress = RealmShipper.Progress()
        var failure: StorageError?
        do throws(StorageError) {
            try shipper.ship(to: store, control, &progress)
            if progress.bases > 0, let retention = plan.retention { try OfflineShipping.prune(shipper.name, store, retention) }
        } catch {
            failure = error
        }
        note(progress, failure, name)
        if let failure { log?.note("ship_failed", realm: name, "\(failure)", level: .error) }
    }

    /// Opens a realm again of which a base is needed; returns whether it is open. One that cannot be opened, or was detached, is
    /// forgotten until it is opened the next time.
    private func isOpened(_ name: String) -> Bool {
        switch catalog.openNow(name) {
        case .settled(.ready(let database)?) where database.mode == .readWrite: return true
        case .tooMany: return false
        case .settled:
            let forgotten = state.withLock { $0.realms.removeValue(forKey: name) }
            withExtendedLifetime(forgotten) {}
            return false
        }
    }

    /// Counts the progress, and sets the time at which a failed realm is retried.
    private func note(_ progress: RealmShipper.Progress, _ failure: StorageError?, _ name: String) {
        state.withLock { state in
            state.control = nil
            state.total.bases += progress.bases
            state.total.records += progress.records
            state.total.byteCount += progress.byteCount
            guard failure != nil else {
                state.realms[name]?.nextAttempt = nil
                state.realms[name]?.pause = 0
                return
            }
            state.failures += 1
            let pause = min(max(1, (state.realms[name]?.pause ?? 0) * 2), ShipService.longestPause)
            state.realms[name]?.pause = pause
            state.realms[name]?.nextAttempt = Instant.now().adding(seconds: pause)
        }
    }

    // MARK: - Metrics

    /// Writes the lag of the store, and the amounts stored since the start.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let (realms, total, failures) = state.withLock { (Array($0.realms.values), $0.total, $0.failures) }
        let now = WallClock.now().nanoseconds
        let ages = realms.compactMap { realm in
            realm.isRefused ? nil : realm.shipper.behindSince.map { Double(max(0, now - $0.nanoseconds)) / 1e9 }
        }
        text.gauge(
            "ship_lag_seconds", "The age of the oldest commit that is not in the store of shipped commits.", ages.max() ?? 0)
        text.gauge("ship_behind_realms", "Realms with commits that are not in the store of shipped commits.", ages.count)
        text.gauge("ship_waiting_bytes", "Memory of commits that wait to be shipped.", budget.usedBytes)
        text.gauge(
            "ship_refused_realms", "Realms whose commits cannot be shipped, because they are encrypted.",
            realms.count { $0.isRefused })
        text.counter("shipped_bytes_total", "Bytes of shipped bases and commits.", total.byteCount)
        text.counter("shipped_commits_total", "Commits that were shipped as records.", total.records)
        text.counter("shipped_bases_total", "Files that were shipped as a whole.", total.bases)
        text.counter("ship_failures_total", "Attempts to ship that failed.", failures)
    }
}
