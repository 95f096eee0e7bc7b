// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import MicroHTTP
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The options of the command `serve`.
///
/// They are settings of the configuration file too, and win over it: `apply(to:)` adds those that
/// are given, and `ServerOptions` documents their effect. Defaults are those of `ServerOptions`.
struct ServeOptions: ParsableArguments {
    /// The path of the configuration file; nil for none.
    @Option(help: ArgumentHelp("A configuration file in YAML; the other options win over it.", valueName: "FILE"))
    var config: String?

    /// The data folder: its files are served, and requests may make files in it.
    @Option(help: ArgumentHelp("A folder of realms; files that cannot be opened are listed with their error.", valueName: "DIR"))
    var data: String?

    /// The folders that paths in requests may lead into, in addition to the data folder.
    @Option(
        name: .customLong("attach-root"),
        help: ArgumentHelp(
            "A folder that paths in requests may lead into, in addition to that of --data. May be given several times.",
            valueName: "DIR"))
    var attachRoots: [String] = []

    /// The name of the default realm; nil where it follows from the served realms.
    @Option(help: ArgumentHelp("The realm at /v1/realms/@default.", valueName: "NAME"))
    var `default`: String?

    /// The layout of the files in the data folder: `flat` or `sharded`; nil for directly in the folder.
    @Option(
        help: ArgumentHelp(
            "The layout of the data folder: flat, with the files directly in it, or sharded, in folders of it.",
            valueName: "flat|sharded"))
    var layout: String?

    /// The time after which unused realms are closed; nil for five minutes.
    @Option(
        help: ArgumentHelp(
            "The time after which an unused realm is closed until the next request; 0 for never.",
            valueName: "TIME"))
    var closeAfter: String?

    /// The time that running requests have after a signal that ends the server; nil for a second.
    @Option(
        help: ArgumentHelp(
            "The time that running requests have after SIGTERM before they are aborted.", valueName: "TIME"))
    var stopAfter: String?

    /// The number of realms that may be open at the same time; nil for the limit of realms.
    @Option(help: ArgumentHelp("The maximum number of open realms.", valueName: "N"))
    var maxOpen: Int?

    /// The number of backups that are kept next to each file, for migrations and for upgrades separately; nil for one.
    @Option(
        help: ArgumentHelp(
            "The number of backups from before migrations, and of those from before upgrades, that are kept next to a file.",
            valueName: "N"))
    var keepMigrationBackups: Int?

    /// The former versions that realms keep; nil for none.
    @Option(
        help: ArgumentHelp(
            "The former versions that realms keep in their files, up to a share of the file: 100, or 100,24h,10%.",
            valueName: "VERSIONS"))
    var undo: String?

    /// The schedule and the target of automatic backups.
    @OptionGroup var backups: BackupPlanOptions

    /// The target of the shipped commits.
    @OptionGroup var shipping: ShipOptions

    @OptionGroup var cluster: ClusterNodeOptions

    /// The IP address or host name on which the main listener accepts connections.
    @Option(help: "The address to listen on; 127.0.0.1 without this option.")
    var host: String?

    /// The TCP port of the main listener; 0 lets the system choose one.
    @Option(help: "The port to listen on, 8080 without this option; 0 picks one.")
    var port: Int?

    /// The listeners, encryption and proxies.
    @OptionGroup var network: NetworkOptions

    /// Whether all writes are rejected and files are opened for reading only.
    @Flag(help: "Refuse every write, and open files for reading only.")
    var readOnly = false

    /// Whether the files are followed, because other programs write them.
    @Flag(help: "Follow the files while other programs write them: a live view that never locks or changes them.")
    var follow = false

    /// `in-place` to upgrade files of older formats; nil to serve them for reading.
    @Option(
        help: ArgumentHelp(
            "Upgrade files of older formats (2 to 11, 20 to 23) to format 24, with a backup next to each; without it those "
                + "of 10 and later are read-only, and older ones are served as private copies.",
            valueName: "in-place"))
    var upgrade: String?

    /// The policy for checking a file before the first write, as `FileStore.Verification` spells it.
    @Option(
        help: ArgumentHelp(
            "When to check that the free and the used space of a file do not overlap: always (at opening), auto (at opening up "
                + "to 64 MiB, else before the first write) or off.",
            valueName: "auto|always|off"))
    var verify: String?

    /// The names of realms in memory, which are empty at the start.
    @Option(help: ArgumentHelp("An empty realm in memory; it is lost when the server ends.", valueName: "NAME"))
    var memory: [String] = []

    /// Whether interactive transactions are rejected.
    @Flag(name: .customLong("no-transactions"), help: "Refuse interactive transactions.")
    var refusesTransactions = false

    /// The classes whose objects can only be written with a condition such as `If-Match`, each as `REALM.CLASS`.
    @Option(
        name: .customLong("require-if-match"),
        help: ArgumentHelp("A class whose objects are only written under a condition.", valueName: "REALM.CLASS"))
    var conditionalClasses: [String] = []

    /// The files with encryption keys, each as `NAME=FILE`.
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The encryption key of a realm: 128 hex digits or base64 of 64 bytes, in a file. "
                + "Also taken from the environment: REALM_REST_KEY_NAME, with '_' for every '.' and '-', "
                + "as it is written or in capital letters.",
            valueName: "NAME=FILE"))
    var keys: [String] = []

    /// Changes of the server's limits, each as `NAME=VALUE`.
    @Option(name: .customLong("limit"), help: ArgumentHelp("A limit of the server, such as page=500.", valueName: "NAME=VALUE"))
    var limits: [String] = []

    /// The format of the request log, or `none`.
    @Option(help: "The form of the request log: json, text or none.")
    var logFormat: String?

    /// The level from which messages are logged.
    @Option(help: "The level of the log: debug (requests with their queries), info, warning (failed ones) or error.")
    var logLevel: String?

    /// The path of the audit log; nil for none.
    @Option(
        help: ArgumentHelp(
            "A file that every write, export, backup, administration and refusal is recorded in, as lines of JSON.",
            valueName: "FILE"))
    var audit: String?

    /// Whether responses have a `Server-Timing` header field.
    @Flag(help: "Add a Server-Timing header field to every response.")
    var serverTiming = false

    /// Whether the server has no pages for people.
    @Flag(name: .customLong("no-console"), help: "Serve no pages: neither the console at / nor the documents at /docs/.")
    var refusesConsole = false

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

    /// Whether the main listener rejects requests for administration even on a loopback address.
    @Flag(
        name: .customLong("no-admin"),
        help: "Reject administration through the main listener, even on loopback: for proxies that do not identify themselves."
    )
    var refusesAdministration = false

    /// Returns the configuration in force: the file, then the options that are given.
    ///
    /// - Parameters:
    ///   - paths: The files and folders to serve; without any those of the file.
    ///   - file: The configuration file; nil for none.
    ///   - isChecked: Whether the combination of settings, and their requirements for this machine, are checked too.
    /// - Throws: `ExitCode(1)` after a message about the file, and `ExitCode(64)` for an option
    ///   that cannot be used.
    func configuration(paths: [String], file: String?, isChecked: Bool = true) throws -> Configuration {
        var base = ServerOptions()
        base.environment = { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
        base.environmentNames = Environment.names(beginningWith: ServerOptions.environmentPrefix)
        var configuration = Configuration(base)
        if let file {
            do throws(ConfigurationError) {
                try configuration.apply(file: file)
            } catch {
                StandardStreams.error(error.description)
                throw ExitCode(1)
            }
        }
        do throws(ConfigurationError) {
            try apply(to: &configuration)
            if !paths.isEmpty { try configuration.apply(option: "files", .texts(paths)) }
            if isChecked { try configuration.check() }
        } catch {
            guard error.file != nil else { throw wrongUse(error.text) }
            StandardStreams.error(error.description)
            throw ExitCode(1)
        }
        return configuration
    }

    /// Adds the options that are given to a configuration.
    private func apply(to configuration: inout Configuration) throws(ConfigurationError) {
        let texts = [
            ("data", data), ("default", `default`), ("layout", layout), ("close-after", closeAfter),
            ("stop-after", stopAfter), ("host", host), ("upgrade", upgrade),
            ("verify", verify), ("undo", undo), ("log-format", logFormat),
            ("log-level", logLevel), ("audit", audit), ("admin", admin),
        ]
        for (name, value) in texts { if let value { try configuration.apply(option: name, .string(value)) } }
        for (name, value) in [("port", port), ("keep-migration-backups", keepMigrationBackups), ("max-open", maxOpen)] {
            if let value { try configuration.apply(option: name, .integer(Int64(value))) }
        }
        let flags = [
            ("read-only", readOnly), ("follow", follow), ("no-transactions", refusesTransactions),
            ("server-timing", serverTiming),
            ("require-standby", cluster.requireStandby), ("insecure", insecure), ("no-admin", refusesAdministration),
            ("no-console", refusesConsole),
        ]
        for (name, value) in flags where value { try configuration.apply(option: name, .bool(true)) }
        let lists = [
            ("attach-root", attachRoots), ("memory", memory), ("require-if-match", conditionalClasses), ("allow-host", hosts),
            ("allow-origin", origins),
        ]
        for (name, values) in lists where !values.isEmpty { try configuration.apply(option: name, .texts(values)) }
        for (name, values, form) in [("key", keys, "NAME=FILE"), ("backlink-names", backlinkNames, "REALM=FILE")] {
            if !values.isEmpty { try configuration.apply(option: name, try ServeOptions.pairs(values, name, form)) }
        }
        try network.apply(to: &configuration)
        for (name, value) in shipping.settings + cluster.settings { try configuration.apply(option: name, .string(value)) }
        if let plan = backups.setting { try configuration.apply(option: "backup", plan) }
        for limit in limits { try configuration.apply(limit: limit) }
    }

    /// Returns the values of an option such as `NAME=FILE` as an object.
    private static func pairs(_ values: [String], _ option: String, _ form: String) throws(ConfigurationError) -> JSONValue {
        var members: [(name: String, value: JSONValue)] = []
        for value in values {
            // The name is a secret where a key was given in the place of a pair, as base64 ends with '='.
            guard let equals = value.firstIndex(of: "="), equals != value.startIndex,
                SecretText.shown(value) == value || !value[value.index(after: equals)...].allSatisfy({ $0 == "=" })
            else {
                throw ConfigurationError(text: "--\(option): '\(SecretText.shown(value))' is not of the form \(form)")
            }
            members.append((String(value[..<equals]), .string(String(value[value.index(after: equals)...]))))
        }
        return .object(JSONObject(members))
    }
}

extension JSONValue {
    /// An array of texts.
    static func texts(_ values: [String]) -> JSONValue { .array(values.map { .string($0) }) }
}

/// The environment of the process.
private enum Environment {
    /// Returns the names of all variables with a beginning.
    static func names(beginningWith prefix: String) -> [String] {
        var names: [String] = []
        var index = 0
        while let entry = unsafe environ[index] {
            let text = unsafe String(cString: entry)
            if text.hasPrefix(prefix) { names.append(String(text.prefix { $0 != "=" })) }
            index += 1
        }
        return names.sorted()
    }
}
