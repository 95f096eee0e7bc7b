// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmEngine
package import RealmStorage
internal import Synchronization

/// A whole server: realms, application, daemon. What `realm-rest serve` runs, and tests too.
package final class RealmServer: Sendable {
    package struct Options: Sendable {
        package var host = "127.0.0.1"
        /// 0 picks one.
        package var port = 8080
        /// `.realm` files, or folders of them.
        package var paths: [String] = []
        /// A folder whose files are served as far as they can be opened.
        package var dataFolder: String?
        /// Folders that paths in requests may lead into, beside the data folder.
        package var attachRoots: [String] = []
        /// How many copies are kept that were made before migrations.
        package var keptCopyCount = 1
        /// After how long realms are forgotten that only a request has named and that could not be opened.
        package var forgetsFailedAfterSeconds = 600.0
        /// Keys by the name of their realm.
        package var keys: [String: EncryptionKey] = [:]
        /// Looks a variable up in the environment: other keys are in `REALM_REST_KEY_NAME`.
        package var environment: @Sendable (String) -> String? = { _ in nil }
        /// Names of linking objects, by realm.
        package var backlinkNames: [String: BacklinkNames] = [:]
        package var isReadOnly = false
        /// Whether files are looked through before they are written to.
        package var verification = FileStore.Verification.auto
        /// Whether files of older formats are brought to the present one, after a copy was made beside them.
        package var upgradesInPlace = false
        /// Names of empty realms that are kept in memory.
        package var memoryRealms: [String] = []
        /// Whether answers tell where their time went.
        package var showsTiming = false
        /// Whether clients may hold transactions over several requests.
        package var allowsTransactions = true
        /// Classes, as `realm.Class`, whose objects are only written under a condition.
        package var conditionalClasses: Set<String> = []
        package var limits = Limits()
        package var logFormat: AccessLog.Format? = .json
        package var logLevel = AccessLog.Level.info
        /// Where the engine logs opening, recovery, slow commits and refused states; silent unless it is set.
        package var logger = EngineLog.silent
        package var extraHosts: [String] = []
        package var corsOrigins: [String] = []
        /// Allows an address that is not loopback without credentials, and lets strangers read.
        package var isInsecure = false
        /// Where administrators have a listener of their own.
        package var admin = AdminAddress.automatic
        /// Whether this machine administers through the main listener when that is on loopback.
        package var administersOnMain = true
        package var graceSeconds = 10.0

        package init() {}
    }

    /// A sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package let application: Application
    package let daemon: HTTPServer
    /// For administrators only.
    package let adminDaemon: HTTPServer?
    private let options: Options
    private let log: AccessLog?

    /// Opens everything and starts answering.
    package init(_ options: Options, report: (String) -> Void = { _ in }) throws(Failure) {
        self.options = options
        let catalog = Catalog(forgetsAfter: .seconds(options.forgetsFailedAfterSeconds), logger: options.logger)
        let dataRoot = try options.dataFolder.map { folder throws(Failure) in try RealmServer.roots([folder]) }
        let attachRoots = try RealmServer.roots([options.dataFolder].compactMap { $0 } + options.attachRoots)
        let descriptors = try RealmServer.requireDescriptors(options)
        try RealmServer.open(options, catalog, report)
        try RealmServer.checkBacklinkNames(options, catalog)
        try RealmServer.checkOrigins(options.corsOrigins)
        let socket = try RealmServer.bind(options)
        let adminSocket: ListeningSocket?
        do throws(Failure) {
            adminSocket = try RealmServer.bindAdmin(options, main: socket)
        } catch {
            socket.close()
            throw error
        }
        var configuration = Application.Configuration(
            hosts: HostPolicy(boundAddress: socket.address, extra: options.extraHosts + [options.host]))
        if let adminSocket, adminSocket.file == nil { configuration.hosts.insert(adminSocket.address) }
        configuration.origins = OriginPolicy(allowed: Set(options.corsOrigins))
        configuration.limits = options.limits
        configuration.isReadOnly = options.isReadOnly
        configuration.verification = options.verification
        configuration.access.isLoopback = socket.isLoopback
        configuration.access.letsStrangersRead = options.isInsecure
        configuration.access.administersOnMain = options.administersOnMain
        configuration.showsTiming = options.showsTiming
        configuration.dataFolder = options.dataFolder
        configuration.dataRoot = dataRoot
        configuration.attachRoots = attachRoots
        configuration.keptCopyCount = options.keptCopyCount
        configuration.realmLimit = min(options.limits.realms, descriptors.realms)
        configuration.allowsTransactions = options.allowsTransactions
        configuration.conditionalClasses = options.conditionalClasses
        log = try RealmServer.makeLog(options)
        application = Application(catalog: catalog, configuration: configuration, accessLog: log)
        var daemonConfiguration = HTTPServer.Configuration()
        daemonConfiguration.limits = options.limits
        daemon = HTTPServer(socket: socket, configuration: daemonConfiguration, handler: application)
        adminDaemon = RealmServer.adminDaemon(adminSocket, options.limits, application)
        application.workers.withLock { $0 = daemon.workers }
        application.notifications.workers.withLock { $0 = daemon.workers }
        application.caretaker.workers.withLock { $0 = daemon.workers }
        application.metrics.addDaemon(daemon)
        application.metrics.addAdminDaemon(adminDaemon)
        application.metrics.addRealms(catalog, limit: options.limits.metricRealms)
    }

    /// Begins to answer. `announce` is called when that is sure, before the first line of the log is written.
    package func start(announce: () throws -> Void = {}) throws {
        do {
            try startAll()
            try announce()
        } catch {
            daemon.stop(graceSeconds: 0)
            adminDaemon?.stop(graceSeconds: 0)
            throw error
        }
        log?.release()
    }

    private func startAll() throws(Failure) {
        do throws(HTTPServer.Failure) {
            try daemon.start()
            try adminDaemon?.start()
        } catch {
            throw Failure(description: error.description)
        }
        do throws(Threads.Failure) {
            try application.caretaker.start()
            try application.alarm.keepRunning()
        } catch {
            throw Failure(description: error.description)
        }
    }

    private static func makeLog(_ options: Options) throws(Failure) -> AccessLog? {
        guard let format = options.logFormat else { return nil }
        do throws(Threads.Failure) {
            return try AccessLog(format: format, level: options.logLevel, isHeld: true)
        } catch {
            throw Failure(description: error.description)
        }
    }

    package var url: String { daemon.socket.url }
    /// Where administrators reach a listener of their own.
    package var adminURL: String? { adminDaemon?.socket.url }

    /// Not ready, refuse, let requests finish, close.
    package func stop(isUrgent: () -> Bool = { false }) {
        application.beginStopping()
        application.notifications.end()
        let end = Instant.now().adding(seconds: options.graceSeconds)
        adminDaemon?.beginDraining()
        var wasUrgent = false
        let isOver = {
            wasUrgent = wasUrgent || isUrgent()
            return wasUrgent
        }
        daemon.stop(graceSeconds: options.graceSeconds, isUrgent: isOver)
        adminDaemon?.stop(graceSeconds: max(0, end.seconds(since: Instant.now())), isUrgent: isOver)
        application.notifications.closeAll()
        application.caretaker.stop()
        application.catalog.closeAll()
        application.alarm.stop()
        log?.close()
    }

    private static func checkOrigins(_ origins: [String]) throws(Failure) {
        for origin in origins {
            guard let mistake = OriginPolicy.mistake(in: origin) else { continue }
            throw Failure(description: "'\(origin)': \(mistake)")
        }
    }

    /// Writes what is left of the log, for a process that ends without `stop`, or in the middle of it.
    package func closeLog(seconds: Double) { log?.close(seconds: seconds) }

    private static func requireDescriptors(_ options: Options) throws(Failure) -> DescriptorBudget {
        let budget = DescriptorBudget(options.limits)
        var count = 0
        for path in options.paths + (options.dataFolder.map { [$0] } ?? []) {
            // A folder that cannot be read is told when it is opened.
            count += RealmFiles.isFolder(path) ? (try? RealmFiles.list(in: path).count) ?? 0 : 1
        }
        do throws(DescriptorBudget.Failure) {
            try budget.require(realms: count)
        } catch {
            throw Failure(description: error.description)
        }
        return budget
    }

    private static func roots(_ folders: [String]) throws(Failure) -> AttachRoots {
        for folder in folders where !RealmFiles.isFolder(folder) {
            throw Failure(description: "\(folder): there is no such folder")
        }
        do throws(StorageError) {
            return try AttachRoots(folders)
        } catch {
            throw Failure(description: "\(folders.joined(separator: ", ")): \(error)")
        }
    }

    private static func bind(_ options: Options) throws(Failure) -> ListeningSocket {
        do throws(ListeningSocket.Failure) {
            let socket = try ListeningSocket(host: options.host, port: options.port)
            guard socket.isLoopback || options.isInsecure else {
                socket.close()
                throw ListeningSocket.Failure(
                    description: "\(socket.address) can be reached from elsewhere and no credentials are configured; "
                        + "say --insecure to let everybody there read")
            }
            return socket
        } catch {
            throw Failure(description: error.description)
        }
    }

    // MARK: - Realms

    private static func open(_ options: Options, _ catalog: Catalog, _ report: (String) -> Void) throws(Failure) {
        for path in options.paths {
            if RealmFiles.isFolder(path) {
                try openFolder(path, options, catalog, report)
            } else {
                switch try open(path, options, catalog) {
                case .failed(let error): throw Failure(description: "\(path): \(error)")
                case .ready(let database): reportReadOnly(database, report)
                case .opening: break
                }
            }
        }
        if let folder = options.dataFolder {
            let names = (try? RealmFiles.names(in: folder)) ?? []
            if !options.isReadOnly { NewFile.removeLeftovers(inFolder: folder, names: names) }
            try openFolder(folder, options, catalog, report)
        }
        for name in options.memoryRealms { try openInMemory(name, options, catalog) }
    }

    /// Files that cannot be opened are reported, and listed with their error.
    private static func openFolder(
        _ folder: String, _ options: Options, _ catalog: Catalog, _ report: (String) -> Void
    ) throws(Failure) {
        let paths: [String]
        do throws(RealmFiles.Failure) {
            paths = try RealmFiles.list(in: folder)
        } catch {
            throw Failure(description: error.description)
        }
        for path in paths {
            guard RealmName(file: path) != nil else {
                report("\(path): not served: \(RealmName.rule)")
                continue
            }
            guard catalog.count < options.limits.realms else {
                report("\(path): not served: there are \(catalog.count) realms already")
                continue
            }
            switch try open(path, options, catalog) {
            case .failed(let error): report("\(path): \(error)")
            case .ready(let database): reportReadOnly(database, report)
            case .opening: break
            }
        }
    }

    /// What is only read, although nobody asked for that, is told before somebody tries to write.
    private static func reportReadOnly(_ database: Database, _ report: (String) -> Void) {
        if let reason = database.readOnlyReason { report("\(database.path): served for reading only: \(reason)") }
    }

    private static func openInMemory(_ text: String, _ options: Options, _ catalog: Catalog) throws(Failure) {
        guard let name = RealmName(text) else {
            throw Failure(description: "'\(text)': \(RealmName.rule)")
        }
        do throws(Catalog.Failure) {
            try catalog.reserve(name)
        } catch {
            throw Failure(description: "two realms would be served as '\(name)'")
        }
        var opening = Database.OpenOptions()
        opening.limits = WriteLimits(options.limits)
        opening.observation = ObservationLimits(evaluationTime: .seconds(options.limits.observationSeconds))
        guard case .failed(let error) = catalog.openInMemory(name, identifier: text, opening) else { return }
        throw Failure(description: "\(text): \(error)")
    }

    private static func open(_ path: String, _ options: Options, _ catalog: Catalog) throws(Failure) -> Catalog.State {
        guard let name = RealmName(file: path) else {
            throw Failure(description: "\(path): \(RealmName.rule)")
        }
        do throws(Catalog.Failure) {
            try catalog.reserve(name, path: path)
        } catch {
            throw Failure(description: "two files would be served as '\(name)'")
        }
        do throws(StorageError) {
            let names = options.backlinkNames[name.text] ?? .none
            var opening = Database.OpenOptions(key: try key(of: name, options), mode: options.isReadOnly ? .readOnly : nil)
            opening.upgradesInPlace = options.upgradesInPlace
            opening.verification = options.verification
            opening.keptCopyCount = options.keptCopyCount
            opening.backlinkNames = names
            opening.limits = WriteLimits(options.limits)
            opening.observation = ObservationLimits(evaluationTime: .seconds(options.limits.observationSeconds))
            return catalog.open(name, path: path, opening)
        } catch {
            throw Failure(description: "the key of '\(name)' in the environment: \(error)")
        }
    }

    /// Names that do not fit the schema, or belong to no realm, stop the start.
    private static func checkBacklinkNames(_ options: Options, _ catalog: Catalog) throws(Failure) {
        for (realm, names) in options.backlinkNames.sorted(by: { $0.key < $1.key }) {
            guard let state = catalog[realm] else {
                throw Failure(description: "backlink names for '\(realm)': there is no realm of this name")
            }
            if case .ready(let database) = state, let mistake = names.mistake(in: database.current.snapshot) {
                throw Failure(description: "backlink names for '\(realm)': \(mistake)")
            }
        }
    }

    private static func key(of name: RealmName, _ options: Options) throws(StorageError) -> EncryptionKey? {
        if let key = options.keys[name.text] { return key }
        // Variables cannot have the dots and hyphens that names may have.
        let variable = "REALM_REST_KEY_" + String(name.text.map { $0 == "." || $0 == "-" ? "_" : $0 })
        return try options.environment(variable).map { text throws(StorageError) in try EncryptionKey(text: text) }
    }
}

extension MetricsRegistry {
    /// What the daemon knows about itself.
    func addDaemon(_ daemon: HTTPServer) {
        add { [weak daemon] text in
            guard let daemon else { return }
            text.single("in_flight", .gauge, "Requests being worked on.", Double(daemon.requestsInFlight))
            text.single("connections", .gauge, "Open connections.", Double(daemon.connectionCount))
            text.single(
                "dead_clients_total", .counter, "Streams whose client was gone without a word.", Double(daemon.deadClients))
            text.single(
                "answers_cut_off_total", .counter, "Streamed answers that took longer than answer-seconds.",
                Double(daemon.answersCutOff.load(ordering: .relaxed)))
            let unsent = daemon.unsentBytes.figures
            text.single("unsent_bytes", .gauge, "Memory of long answers that clients have not taken yet.", Double(unsent.bytes))
            text.single(
                "unsent_bytes_refused_total", .counter, "Answers that were not sent because too many wait for their clients.",
                Double(unsent.refusals))
            text.single("worker_queue", .gauge, "Requests waiting for a worker.", Double(daemon.waitingJobs))
            text.single("worker_threads", .gauge, "Threads of workers that were made.", Double(daemon.workers.threadCount))
            let connections = daemon.connections.figures
            text.single(
                "connections_refused_total", .counter, "Connections closed as they came, because too many were open.",
                Double(connections.refused))
            text.single(
                "connections_displaced_total", .counter, "Idle connections closed to make room for others.",
                Double(connections.displaced))
            text.single(
                "connections_timed_out_total", .counter, "Connections closed because a request did not come in time.",
                Double(connections.timedOut))
            text.single("spool_files", .gauge, "Long bodies that are kept in files.", Double(daemon.spool.files))
            text.single("spool_bytes", .gauge, "Bytes of bodies that are kept in files.", Double(daemon.spool.bytes))
            text.single(
                "spool_refused_total", .counter, "Long bodies that were refused for want of room.", Double(daemon.spool.refused))
        }
    }
}
