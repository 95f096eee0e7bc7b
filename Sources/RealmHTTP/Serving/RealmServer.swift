// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
package import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// A whole server: the realms, the shared state of requests, and the listeners.
///
/// `realm-rest serve` makes one, and so do tests. Its life has three steps: `init` opens the realms and binds the sockets,
/// `start` begins to answer requests, and `stop` ends everything. It is not started again after that.
package final class RealmServer: Sendable {
    /// The reason why a server could not be made or started, as a sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        /// The sentence, without a final period or the name of the program.
        package let description: String

        /// Makes a failure.
        ///
        /// - Parameter description: The sentence to print.
        package init(description: String) { self.description = description }
    }

    /// The catalog, limits, leases, metrics and other objects that the requests of both listeners share.
    package let state: ServerState
    /// The HTTP server of the main listener.
    package let daemon: HTTPServer
    /// The other listeners for clients.
    package let others: [HTTPServer]
    /// The HTTP server of the administrators' listener; nil when administrators use the main listener, or none.
    package let adminDaemon: HTTPServer?
    /// The key that was made because this is the first start; nil for every other start. It is printed once, on standard error.
    package let firstKey: String?
    /// Propagates revoked and expired credentials.
    private let accessWatch: AccessWatch
    /// The options that the server was made with, kept for its listeners and its end.
    private let options: ServerOptions
    /// The access log; nil when the options ask for none. It is held until the server has announced its address.
    private let log: AccessLog?
    /// The audit log; nil when the options ask for none.
    private let audit: AuditLog?

    /// Opens the realms and binds the listeners. No request is answered before `start`.
    ///
    /// - Parameters:
    ///   - options: The realms, the listeners and the limits.
    ///   - report: Called with a sentence about each realm that is not served, or only for reading.
    /// - Throws: `Failure` for anything that should stop the start: a named file that cannot be
    ///   opened, an address that cannot be bound or needs `--insecure`, a malformed option, or too
    ///   few file descriptors for the realms. Nothing listens then.
    package convenience init(_ options: ServerOptions, report: (String) -> Void = { _ in }) throws(Failure) {
        try self.init(options, from: nil, report: report)
    }

    /// Opens the realms and binds the listeners, as `init(_:report:)`.
    ///
    /// - Parameters:
    ///   - options: The realms, the listeners and the limits.
    ///   - configuration: The source of the options, which a reload reads again; nil when they were not read.
    ///   - report: Called with a sentence about each realm that is not served, or only for reading.
    /// - Throws: `Failure`, as `init(_:report:)`.
    package init(
        _ options: ServerOptions, from configuration: Configuration?, report: (String) -> Void
    ) throws(Failure) {
        let log = try RealmServer.makeLog(options)
        var isMade = false
        defer { if !isMade { log?.close(seconds: 0) } }
        var options = options
        if let log { options.logger = EventLogHandler.logger(log) }
        self.options = options
        // Before anything is made in the data folder.
        let wantsKey = FirstKey.isWanted(options)
        let hasCredentials = FirstKey.hasCredentials(options)
        let live = LiveOptions(options)
        let catalog = Catalog(forgetsAfter: .seconds(options.forgetsFailedAfterSeconds), logger: options.logger)
        let dataRoot = try options.dataFolder.map { folder throws(Failure) in try RealmServer.roots([folder]) }
        let attachRoots = try RealmServer.roots([options.dataFolder].compactMap { $0 } + options.attachRoots)
        let descriptors = try RealmServer.requireDescriptors(options)
        catalog.openLimit = min(options.openLimit ?? options.limits.realms, descriptors.realms)
        try RealmServer.open(live, catalog, report)
        RealmServer.reportUnused(options, catalog, report)
        try RealmServer.checkRoles(options, configuration, catalog)
        try RealmServer.checkRolesOfKeys(options)
        try RealmServer.checkBacklinkNames(options, catalog)
        try RealmServer.checkOrigins(options.corsOrigins)
        let tokens = try RealmServer.makeTokens(live, configuration)
        let keys = try RealmServer.openKeys(options)
        self.log = log
        audit = try RealmServer.makeAudit(options, log)
        let tls: TLSStore?
        let listeners: [BoundListener]
        let adminSocket: ListeningSocket?
        do throws(Failure) {
            tls = try RealmServer.certificates(options, log, report)
            listeners = try RealmServer.bindClients(options, hasCredentials: hasCredentials)
            do throws(Failure) {
                let isLoopback = listeners.allSatisfy { $0.socket.isLoopback }
                adminSocket = try RealmServer.bindAdmin(options, isLoopback: isLoopback)
                firstKey = try RealmServer.makeFirstKey(keys, in: options.dataFolder, isWanted: wantsKey && !isLoopback)
            } catch {
                for one in listeners { one.socket.close() }
                throw error
            }
        } catch {
            audit?.close(seconds: 0)
            throw error
        }
        let rules = RealmServer.rules(options, listeners, adminSocket)
        state = ServerState(
            catalog: catalog, options: live, configuration: configuration, rules: rules,
            authenticator: Authenticator(
                rules.access, keys: keys,
                verifier: options.verifier ?? (options.tokenIssuers.isEmpty ? nil : TokenPrincipals(tokens: tokens)),
                takesCertificates: options.tls.clientAuthorities != nil && !options.certificateRules.isEmpty),
            folders: RealmFolders(data: dataRoot, attach: attachRoots),
            realmLimit: min(options.limits.realms, descriptors.realms), tokens: tokens, tls: tls, accessLog: log,
            audit: audit)
        accessWatch = AccessWatch(state)
        if let cluster = state.cluster {
            do throws(StorageError) {
                try cluster.start(state.clusterHooks)
            } catch {
                RealmServer.abandon(listeners, admin: adminSocket, audit: audit)
                throw Failure(description: "the cluster: \(error)")
            }
        }
        if let failure = keys.failure { report(failure) }
        state.directory.restoreAttached(report)
        let handler = RequestDispatcher(state)
        let daemon = HTTPServer(
            socket: listeners[0].socket, configuration: listeners[0].configuration(options, tls), workers: state.workers,
            handler: handler)
        self.daemon = daemon
        others = listeners.dropFirst().map { listener in
            HTTPServer(socket: listener.socket, configuration: listener.configuration(options, tls), sharing: daemon)
        }
        adminDaemon = RealmServer.adminDaemon(adminSocket, options.limits, handler)
        state.metrics.addDaemon(daemon, others)
        state.metrics.addAdminDaemon(adminDaemon)
        state.metrics.addRealms(catalog, limit: options.limits.metricRealms)
        state.metrics.addProcess(start: .now())
        isMade = true
    }

    /// Starts to serve requests.
    ///
    /// - Parameters:
    ///   - announce: Called when all threads run, and before the first line of the log is
    ///     written. `realm-rest serve` prints the address here.
    ///   - everySecond: Called about once a second while the server runs, on a separate thread; it must not wait.
    /// - Throws: `Failure` when threads cannot be started, and the errors of `announce`. The listeners are stopped then.
    package func start(announce: () throws -> Void = {}, everySecond: @escaping @Sendable () -> Void = {}) throws {
        do {
            try startAll(everySecond)
            try announce()
        } catch {
            for other in others { other.stop(graceSeconds: 0) }
            daemon.stop(graceSeconds: 0)
            adminDaemon?.stop(graceSeconds: 0)
            throw error
        }
        log?.release()
    }

    /// Starts the daemons, the thread that watches the files of the realms, and the thread of the timer.
    private func startAll(_ everySecond: @escaping @Sendable () -> Void) throws(Failure) {
        do throws(HTTPServer.Failure) {
            try daemon.start { [weak daemon, tls = state.tls] in
                everySecond()
                if let tls { daemon?.checkCertificates(of: tls) }
            }
            for other in others { try other.start() }
            try adminDaemon?.start()
        } catch {
            throw Failure(description: error.description)
        }
        do throws(Threads.Failure) {
            try state.supervisor.start()
            try state.backups.start()
            try state.shipping?.start()
            try state.timers.keepRunning()
            accessWatch.start()
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// Cleans up after a failed start.
    private static func abandon(_ listeners: [BoundListener], admin: ListeningSocket?, audit: AuditLog?) {
        for one in listeners { one.socket.close() }
        admin?.close()
        audit?.close(seconds: 0)
    }

    /// Makes the access log, which holds its lines until `start` has announced the server; nil when the options ask for none.
    private static func makeLog(_ options: ServerOptions) throws(Failure) -> AccessLog? {
        guard let format = options.logFormat else { return nil }
        do throws(Threads.Failure) {
            return try AccessLog(format: format, level: options.logLevel, isHeld: true)
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// Opens the audit log; nil when the options ask for none.
    private static func makeAudit(_ options: ServerOptions, _ log: AccessLog?) throws(Failure) -> AuditLog? {
        do throws(StorageError) {
            return try AuditLog(options.audit) { event, detail, level in
                log?.note(event, realm: "", detail, level: level)
            }
        } catch {
            throw Failure(description: "the audit log '\(options.audit.file ?? "")' cannot be written: \(error)")
        }
    }

    /// Makes the verifier of tokens, which begins to fetch the keys of issuers.
    private static func makeTokens(_ live: LiveOptions, _ configuration: Configuration?) throws(Failure) -> TokenVerifier {
        let options = live.current
        do throws(TokenVerifier.Failure) {
            let keySets = configuration?.keySets ?? KeySetFiles()
            return try TokenVerifier(options.tokenIssuers, keySets, limits: live.limits, logger: options.logger)
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// The URL at which clients reach the main listener, with the port that the system has assigned if the option was 0.
    package var url: String { daemon.url }
    /// The URLs of the other listeners for clients.
    package var otherURLs: [String] { others.map(\.url) }
    /// The SHA-256 digest of the certificate that was made for trials; nil for none.
    package var fingerprintOfTrial: String? { state.tls?.fingerprintOfTrial }
    /// The URL of the administrators' listener; nil when there is none.
    package var adminURL: String? { adminDaemon?.url }

    /// Stops the server in order: readiness becomes false, streams and polls end, running requests
    /// may finish, and then the realms are closed.
    ///
    /// Requests have `graceSeconds` to finish, counted once for both listeners. This blocks until everything is closed.
    ///
    /// - Parameter isUrgent: Polled during that time; true ends the waiting at once, for example
    ///   after a second signal. Once it has been true it is not called again.
    package func stop(isUrgent: () -> Bool = { false }) {
        state.lifecycle.beginStopping()
        state.cluster?.leave()
        state.notifications.end()
        let end = Instant.now().adding(seconds: options.graceSeconds)
        for listener in others + [daemon, adminDaemon].compactMap({ $0 }) { listener.beginDraining() }
        var wasUrgent = false
        let isOver = {
            wasUrgent = wasUrgent || isUrgent()
            return wasUrgent
        }
        for other in others { other.stop(graceSeconds: max(0, end.seconds(since: Instant.now())), isUrgent: isOver) }
        daemon.stop(graceSeconds: max(0, end.seconds(since: Instant.now())), isUrgent: isOver)
        adminDaemon?.stop(graceSeconds: max(0, end.seconds(since: Instant.now())), isUrgent: isOver)
        state.notifications.closeAll()
        accessWatch.stop()
        state.backups.stop()
        state.tokens.stopReading()
        state.supervisor.stop()
        state.catalog.closeAll()
        state.shipping?.stop()
        state.cluster?.stop()
        state.timers.stop()
        state.tokens.stop()
        audit?.close()
        log?.close()
    }

    /// Checks that each allowed origin is well-formed, since a malformed one would never match.
    private static func checkOrigins(_ origins: [String]) throws(Failure) {
        for origin in origins {
            guard let defect = OriginPolicy.defect(in: origin) else { continue }
            throw Failure(description: "'\(origin)': \(defect)")
        }
    }

    /// Writes the remaining lines of the logs, for a process that ends without `stop` or in the middle of it.
    ///
    /// - Parameter seconds: The longest wait for the disk, and then for the reader of the log.
    package func closeLog(seconds: Double) {
        audit?.close(seconds: seconds)
        log?.close(seconds: seconds)
    }

    /// Checks that the process may open enough files for the realms that the options name.
    ///
    /// - Returns: The budget of file descriptors, which also limits the number of realms that can be attached later.
    private static func requireDescriptors(_ options: ServerOptions) throws(Failure) -> DescriptorBudget {
        let budget = DescriptorBudget(options.limits)
        var count = 0
        for path in options.paths {
            // A folder that cannot be read is reported when it is opened.
            count += RealmFiles.isFolder(path) ? (try? RealmFiles.list(in: path).count) ?? 0 : 1
        }
        do throws(DescriptorBudget.Failure) {
            try budget.require(realms: count)
        } catch {
            throw Failure(description: error.description)
        }
        return budget
    }

    /// Resolves folders that paths in requests may lead into. Throws `Failure` for a folder that does not exist.
    private static func roots(_ folders: [String]) throws(Failure) -> AttachRoots {
        for folder in folders where !RealmFiles.isFolder(folder) {
            throw Failure(description: StartRefusal.missingFolder(folder))
        }
        do throws(StorageError) {
            return try AttachRoots(folders)
        } catch {
            throw Failure(description: "\(folders.joined(separator: ", ")): \(error)")
        }
    }

    private static func openKeys(_ options: ServerOptions) throws(Failure) -> KeyStore {
        do throws(FirstKey.Defect) { return try FirstKey.store(options) } catch { throw Failure(description: error.description) }
    }

    /// Makes the first key of a server that can be reached from elsewhere.
    private static func makeFirstKey(_ keys: KeyStore, in folder: String?, isWanted: Bool) throws(Failure) -> String? {
        guard isWanted else { return nil }
        do throws(KeyFile.Failure) {
            return try FirstKey.make(keys)?.text
        } catch {
            let reason = folder.flatMap { ProcessOwner.hindrance(toWriting: $0) } ?? "\(error)"
            throw Failure(description: "the first key cannot be stored: \(reason)")
        }
    }
}
