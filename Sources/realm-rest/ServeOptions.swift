// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Logging
import RealmHTTP
import RealmStorage

/// The options of the command `serve`.
///
/// Their values are checked by `validate` and converted to `ServerOptions`, which documents
/// their effect.
struct ServeOptions: ParsableArguments {
    /// The data folder: its files are served, and requests may make files in it.
    @Option(help: ArgumentHelp("A folder of realms; files that cannot be opened are listed with their error.", valueName: "DIR"))
    var data: String?

    /// The folders that paths in requests may lead into, in addition to the data folder.
    @Option(
        name: .customLong("attach-root"),
        help: ArgumentHelp(
            "A folder that paths in requests may lead into, beside the one of --data. May be given several times.",
            valueName: "DIR"))
    var attachRoots: [String] = []

    /// The number of backups that are kept beside each file, for migrations and for upgrades
    /// separately.
    @Option(
        help: ArgumentHelp(
            "How many copies are kept beside a file that were made before migrations, and before upgrades.", valueName: "N"))
    var keepMigrationBackups = 1

    /// When and where to realms are backed up by themselves.
    @OptionGroup var backups: BackupPlanOptions

    /// The IP address or host name on which the main listener accepts connections.
    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    /// The TCP port of the main listener; 0 lets the system choose one.
    @Option(help: "The port to listen on; 0 picks one.")
    var port = 8080

    /// Whether all writes are rejected and files are opened for reading only.
    @Flag(help: "Refuse every write, and open files for reading only.")
    var readOnly = false

    /// `in-place` to upgrade files of older formats; nil to serve them for reading.
    @Option(
        help: ArgumentHelp(
            "Brings files of formats 20 to 23 to format 24, after a copy was made beside each; without it they are only read.",
            valueName: "in-place"))
    var upgrade: String?

    /// When a file is checked before it is written to, as `FileStore.Verification` spells it.
    @Option(
        help: ArgumentHelp(
            "When free space is checked against what is in use before a file is written to: auto (up to 64 MiB while it is "
                + "opened, above that before its first write), always (while it is opened) or off.",
            valueName: "auto|always|off"))
    var verify = "auto"

    /// The names of realms in memory, which are empty at the start.
    @Option(help: ArgumentHelp("An empty realm in memory; it is lost when the server ends.", valueName: "NAME"))
    var memory: [String] = []

    /// Whether interactive transactions are rejected.
    @Flag(name: .customLong("no-transactions"), help: "Refuse transactions that last for several requests.")
    var refusesTransactions = false

    /// The classes whose objects can only be written with a condition such as `If-Match`, each
    /// as `REALM.CLASS`.
    @Option(
        name: .customLong("require-if-match"),
        help: ArgumentHelp("A class whose objects are only written under a condition.", valueName: "REALM.CLASS"))
    var conditionalClasses: [String] = []

    /// The files with encryption keys, each as `NAME=FILE`.
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The encryption key of a realm: 128 hex digits or base64 of 64 bytes, in a file. "
                + "Also taken from the environment: REALM_REST_KEY_NAME, with '_' for every '.' and '-'.",
            valueName: "NAME=FILE"))
    var keys: [String] = []

    /// Changes of the server's limits, each as `NAME=VALUE`.
    @Option(name: .customLong("limit"), help: ArgumentHelp("A limit of the server, such as page=500.", valueName: "NAME=VALUE"))
    var limits: [String] = []

    /// The format of the request log, or `none`.
    @Option(help: "The form of the request log: json, text or none.")
    var logFormat = "json"

    /// The level from which messages are logged.
    @Option(help: "What is logged: debug (requests with their queries), info, warning (failed ones) or error.")
    var logLevel = "info"

    /// Whether responses have a `Server-Timing` header field.
    @Flag(help: "Add a Server-Timing header field to every response.")
    var serverTiming = false

    /// The files with names of linking objects, each as `REALM=FILE`.
    @Option(
        name: .customLong("backlink-names"),
        help: ArgumentHelp(
            "Names for linking objects, as JSON in a file: {\"Dog\":{\"owners\":\"Person.dogs\"}}.", valueName: "REALM=FILE"))
    var backlinkNames: [String] = []

    /// Additional host names that the `Host` header field of requests may have.
    @Option(
        name: .customLong("allow-host"),
        help: ArgumentHelp("A host name that clients may use for this server.", valueName: "NAME"))
    var hosts: [String] = []

    /// The origins whose pages may read responses (CORS).
    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp("An origin whose pages may use this server.", valueName: "ORIGIN"))
    var origins: [String] = []

    /// Whether the server may be reached from other machines without authentication.
    @Flag(
        help:
            "Allow access without credentials from other machines: listen on an address that they can reach, or accept requests that came through a proxy."
    )
    var insecure = false

    /// The address of the listener for administration; nil for the default.
    @Option(
        help: ArgumentHelp(
            "A listener for administrators, on loopback or a Unix socket that only this user can open. Without it: the main "
                + "listener when it is on loopback, else 127.0.0.1:8081.",
            valueName: "HOST:PORT|unix:PATH|none"))
    var admin: String?

    /// Whether the main listener rejects requests for administration even on a loopback
    /// address.
    @Flag(
        name: .customLong("no-admin"),
        help: "Reject administration through the main listener, even on loopback: for proxies that do not identify themselves."
    )
    var refusesAdministration = false

    /// Returns the options of the server, with keys and name files read.
    ///
    /// - Parameter paths: The files and folders to serve.
    /// - Throws: `ValidationError` for a value that cannot be used, and `ExitCode(1)` for a key
    ///   that cannot be read.
    func serverOptions(paths: [String]) throws -> ServerOptions {
        var server = ServerOptions()
        server.host = host
        server.port = port
        server.paths = paths
        server.dataFolder = data
        server.attachRoots = attachRoots
        server.keptCopyCount = keepMigrationBackups
        server.backupPlan = try backups.plan()
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

    /// Makes the logger of the engine, which writes to standard error.
    ///
    /// - Parameter level: The level from which messages are logged.
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

    /// Returns the format of the request log; nil for no log.
    ///
    /// - Throws: `ValidationError` for an unknown format.
    private func format() throws -> AccessLog.Format? {
        if logFormat == "none" { return nil }
        guard let format = AccessLog.Format(rawValue: logFormat) else {
            throw ValidationError("--log-format takes json, text or none")
        }
        return format
    }

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    ///
    /// - Throws: `ValidationError` with the values that the option accepts.
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
