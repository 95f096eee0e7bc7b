// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

/// What the requests of one server share: realms, threads, memory, leases and what is kept for later requests.
///
/// Everything is made here, before anything that uses it, and never replaced. Endpoints do not see this object: they are
/// given the parts that they need.
package final class ServerState: Sendable {
    /// How the server was started.
    package let options: ServerOptions
    /// The realms by name.
    package let catalog: Catalog
    /// Who may send requests.
    package let rules: AccessRules
    /// Whether the server is stopping.
    package let lifecycle = Lifecycle()
    /// What `/metrics` shows; every part adds its own.
    package let metrics = MetricsRegistry()
    /// Transactions, snapshots and streams, for administrators.
    package let leases = LeaseRegistry()
    /// Threads for what takes longer; the main listener starts and closes them.
    package let workers: WorkerPool
    /// One thread for all that is to happen at a time.
    let alarm = Alarm()
    /// Memory that bodies of requests take.
    let waitingBytes: ByteLedger
    /// Versions that clients hold for later reads.
    let pinned: PinnedVersions
    /// Subscriptions of all realms.
    let notifications: ChangeService
    /// Closes realms whose file changes underneath, and opens them again.
    let caretaker: RealmCaretaker
    /// The realms as clients see and change them.
    let directory: RealmDirectory
    /// The log of requests; nil when none is written.
    let accessLog: AccessLog?
    /// The level of the log, which administrators may change while the server runs.
    let logLevel: AccessLog.LevelSwitch

    /// The state of a server over the realms in `catalog`, which may be opened before or later.
    ///
    /// No thread is started here. `folders` and `realmLimit` come from what the system allows; without them requests reach no
    /// files, and the limits alone bound the number of realms.
    package init(
        catalog: Catalog, options: ServerOptions, rules: AccessRules, folders: RealmFolders = RealmFolders(),
        realmLimit: Int? = nil, accessLog: AccessLog? = nil
    ) {
        let limits = options.limits
        self.options = options
        self.catalog = catalog
        self.rules = rules
        self.accessLog = accessLog
        logLevel = accessLog?.level ?? AccessLog.LevelSwitch()
        workers = WorkerPool(limits)
        waitingBytes = ByteLedger(limit: limits.waitingBytes, limitOfPrincipal: limits.waitingBytesPerPrincipal)
        pinned = PinnedVersions(limits, leases, alarm)
        notifications = ChangeService(limits, alarm, workers)
        caretaker = RealmCaretaker(
            catalog: catalog, pinned: pinned, notifications: notifications, workers: workers, log: accessLog)
        directory = RealmDirectory(
            catalog: catalog, options: options, folders: folders, realmLimit: realmLimit ?? limits.realms,
            access: rules.access, workers: workers, pinned: pinned, notifications: notifications)
        addMetrics()
    }

    /// The limits of the options.
    package var limits: Limits { options.limits }

    /// Where long bodies are kept until they are read: the first of these folders that takes a file.
    var spoolFolders: [String] { [options.dataFolder, System.temporaryFolder].compactMap { $0 } }

    private func addMetrics() {
        metrics.addSnapshots(pinned)
        metrics.add { [waitingBytes] text in
            let figures = waitingBytes.figures
            text.single(
                "waiting_bytes", .gauge, help: "Memory for bodies of requests that are received, parsed or waiting.",
                value: Double(figures.bytes))
            text.single(
                "waiting_bytes_refused_total", .counter, help: "Requests refused because bodies took too much memory.",
                value: Double(figures.refusals))
        }
        metrics.add { [notifications] text in notifications.write(to: &text) }
        metrics.add { [caretaker] text in caretaker.write(to: &text) }
        guard let accessLog else { return }
        metrics.add { text in
            text.single(
                "log_lines_dropped_total", .counter, help: "Log lines lost because nobody read them in time.",
                value: Double(accessLog.droppedLines))
        }
    }
}
