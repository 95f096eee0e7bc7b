// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Logging
import RealmHTTP
import RealmStorage

/// What a server can be told on the command line.
struct ServeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A folder of realms; files that cannot be opened are listed with their error.", valueName: "DIR"))
    var data: String?

    @Option(
        name: .customLong("attach-root"),
        help: ArgumentHelp(
            "A folder that paths in requests may lead into, beside the one of --data. May be given several times.",
            valueName: "DIR"))
    var attachRoots: [String] = []

    @Option(
        help: ArgumentHelp(
            "How many copies are kept beside a file that were made before migrations, and before upgrades.", valueName: "N"))
    var keepMigrationBackups = 1

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 picks one.")
    var port = 8080

    @Flag(help: "Refuse every write, and open files for reading only.")
    var readOnly = false

    @Option(
        help: ArgumentHelp(
            "Brings files of formats 20 to 23 to format 24, after a copy was made beside each; without it they are only read.",
            valueName: "in-place"))
    var upgrade: String?

    @Option(
        help: ArgumentHelp(
            "When free space is checked against what is in use before a file is written to: auto (up to 64 MiB while it is "
                + "opened, above that before its first write), always (while it is opened) or off.",
            valueName: "auto|always|off"))
    var verify = "auto"

    @Option(help: ArgumentHelp("An empty realm in memory; it is gone when the server ends.", valueName: "NAME"))
    var memory: [String] = []

    @Flag(name: .customLong("no-transactions"), help: "Refuse transactions that last for several requests.")
    var refusesTransactions = false

    @Option(
        name: .customLong("require-if-match"),
        help: ArgumentHelp("A class whose objects are only written under a condition.", valueName: "REALM.CLASS"))
    var conditionalClasses: [String] = []

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The encryption key of a realm: 128 hex digits or base64 of 64 bytes, in a file. "
                + "Also taken from the environment: REALM_REST_KEY_NAME, with '_' for every '.' and '-'.",
            valueName: "NAME=FILE"))
    var keys: [String] = []

    @Option(name: .customLong("limit"), help: ArgumentHelp("A limit of the server, such as page=500.", valueName: "NAME=VALUE"))
    var limits: [String] = []

    @Option(help: "The form of the request log: json, text or none.")
    var logFormat = "json"

    @Option(help: "What is logged: debug (requests with their queries), info, warning (failed ones) or error.")
    var logLevel = "info"

    @Flag(help: "Tell in every answer where its time went.")
    var serverTiming = false

    @Option(
        name: .customLong("backlink-names"),
        help: ArgumentHelp(
            "Names for linking objects, as JSON in a file: {\"Dog\":{\"owners\":\"Person.dogs\"}}.", valueName: "REALM=FILE"))
    var backlinkNames: [String] = []

    @Option(
        name: .customLong("allow-host"),
        help: ArgumentHelp("A host name that clients may call this server by.", valueName: "NAME"))
    var hosts: [String] = []

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp("An origin whose pages may use this server.", valueName: "ORIGIN"))
    var origins: [String] = []

    @Flag(
        help:
            "Let strangers read: listen on an address that others can reach, or take requests that came through a proxy, although there are no credentials."
    )
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "A listener for administrators, on loopback or a Unix socket that only this user can open. Without it: the main "
                + "listener when it is on loopback, else 127.0.0.1:8081.",
            valueName: "HOST:PORT|unix:PATH|none"))
    var admin: String?

    @Flag(
        name: .customLong("no-admin"),
        help: "Do not administer through the main listener, not even on loopback: for proxies that do not tell that they are one."
    )
    var refusesAdministration = false

    func serverOptions(paths: [String]) throws -> ServerOptions {
        var server = ServerOptions()
        server.host = host
        server.port = port
        server.paths = paths
        server.dataFolder = data
        server.attachRoots = attachRoots
        server.keptCopyCount = keepMigrationBackups
        server.keys = try RealmKeys.read(keys)
        server.environment = { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
        server.isReadOnly = readOnly
        server.upgradesInPlace = upgrade != nil
        server.verification = FileStore.Verification(rawValue: verify) ?? .auto
        server.memoryRealms = memory
        server.allowsTransactions = !refusesTransactions
        server.conditionalClasses = Set(conditionalClasses)
        for limit in limits {
            do { try server.limits.apply(limit) } catch { throw ValidationError("--limit: \(error)") }
        }
        server.logFormat = try format()
        guard let level = AccessLog.Level(name: logLevel) else {
            throw ValidationError("--log-level takes debug, info, warning or error")
        }
        server.logLevel = level
        if server.logFormat != nil { server.logger = ServeOptions.engineLogger(level) }
        server.showsTiming = serverTiming
        server.backlinkNames = try BacklinkNameFiles.read(backlinkNames)
        server.extraHosts = hosts
        server.corsOrigins = origins
        server.isInsecure = insecure
        server.administersOnMain = !refusesAdministration
        if let admin {
            guard let address = AdminAddress(admin) else {
                throw ValidationError("--admin takes HOST:PORT, such as 127.0.0.1:8081, unix:PATH or none")
            }
            server.admin = address
        }
        return server
    }

    /// Logs what the engine says on standard error.
    private static func engineLogger(_ level: AccessLog.Level) -> Logger {
        var logger = Logger(label: "realm-rest.engine") { StreamLogHandler.standardError(label: $0) }
        switch level {
        case .debug: logger.logLevel = .debug
        case .info: logger.logLevel = .info
        case .warning: logger.logLevel = .warning
        case .error: logger.logLevel = .error
        }
        return logger
    }

    private func format() throws -> AccessLog.Format? {
        if logFormat == "none" { return nil }
        guard let format = AccessLog.Format(rawValue: logFormat) else {
            throw ValidationError("--log-format takes json, text or none")
        }
        return format
    }

    func validate() throws {
        guard FileStore.Verification(rawValue: verify) != nil else { throw ValidationError("--verify takes auto, always or off") }
        guard upgrade == nil || upgrade == "in-place" else { throw ValidationError("--upgrade takes in-place") }
        guard upgrade == nil || !readOnly else { throw ValidationError("--upgrade and --read-only exclude each other") }
        guard (0...1000).contains(keepMigrationBackups) else {
            throw ValidationError("--keep-migration-backups takes a number from 0 to 1000")
        }
        guard (0...65_535).contains(port) else { throw ValidationError("--port takes a number from 0 to 65535") }
    }
}
