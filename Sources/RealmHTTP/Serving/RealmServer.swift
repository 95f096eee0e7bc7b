// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// A whole server: realms, application, daemon. What `realm-rest serve` runs, and tests too.
package final class RealmServer: Sendable {
    /// A sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        /// A failure with this sentence.
        package init(description: String) { self.description = description }
    }

    /// What the requests of the server share.
    package let state: ServerState
    /// The main listener.
    package let daemon: HTTPServer
    /// For administrators only.
    package let adminDaemon: HTTPServer?
    private let options: ServerOptions
    private let log: AccessLog?

    /// Opens everything and starts answering.
    package init(_ options: ServerOptions, report: (String) -> Void = { _ in }) throws(Failure) {
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
        var rules = AccessRules(
            hosts: HostPolicy(boundAddress: socket.address, extra: options.extraHosts + [options.host]),
            origins: OriginPolicy(allowed: Set(options.corsOrigins)))
        if let adminSocket, adminSocket.file == nil { rules.hosts.insert(adminSocket.address) }
        rules.access.isLoopback = socket.isLoopback
        rules.access.letsStrangersRead = options.isInsecure
        rules.access.administersOnMain = options.administersOnMain
        log = try RealmServer.makeLog(options)
        state = ServerState(
            catalog: catalog, options: options, rules: rules,
            folders: RealmFolders(data: dataRoot, attach: attachRoots),
            realmLimit: min(options.limits.realms, descriptors.realms), accessLog: log)
        let handler = RequestDispatcher(state)
        var configuration = HTTPServer.Configuration()
        configuration.limits = options.limits
        daemon = HTTPServer(socket: socket, configuration: configuration, workers: state.workers, handler: handler)
        adminDaemon = RealmServer.adminDaemon(adminSocket, options.limits, handler)
        state.metrics.addDaemon(daemon)
        state.metrics.addAdminDaemon(adminDaemon)
        state.metrics.addRealms(catalog, limit: options.limits.metricRealms)
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
            try state.caretaker.start()
            try state.alarm.keepRunning()
        } catch {
            throw Failure(description: error.description)
        }
    }

    private static func makeLog(_ options: ServerOptions) throws(Failure) -> AccessLog? {
        guard let format = options.logFormat else { return nil }
        do throws(Threads.Failure) {
            return try AccessLog(format: format, level: options.logLevel, isHeld: true)
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// Where the main listener can be reached.
    package var url: String { daemon.socket.url }
    /// Where administrators reach a listener of their own.
    package var adminURL: String? { adminDaemon?.socket.url }

    /// Not ready, refuse, let requests finish, close.
    package func stop(isUrgent: () -> Bool = { false }) {
        state.lifecycle.beginStopping()
        state.notifications.end()
        let end = Instant.now().adding(seconds: options.graceSeconds)
        adminDaemon?.beginDraining()
        var wasUrgent = false
        let isOver = {
            wasUrgent = wasUrgent || isUrgent()
            return wasUrgent
        }
        daemon.stop(graceSeconds: options.graceSeconds, isUrgent: isOver)
        adminDaemon?.stop(graceSeconds: max(0, end.seconds(since: Instant.now())), isUrgent: isOver)
        state.notifications.closeAll()
        state.caretaker.stop()
        state.catalog.closeAll()
        state.alarm.stop()
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

    private static func requireDescriptors(_ options: ServerOptions) throws(Failure) -> DescriptorBudget {
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

    private static func bind(_ options: ServerOptions) throws(Failure) -> ListeningSocket {
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
}
