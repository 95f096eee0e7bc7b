// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmBackups
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// All settings, in the order in which `config show` prints them.
extension ServerSetting {
    /// All settings, with one for each limit.
    static let all: [ServerSetting] =
        listening + network + credentials + roles + realms + requests + logging + audit + shipping + cluster
        + Limits.entries.map { limit($0) }

    // MARK: - Listeners

    /// The addresses of the listeners, and their clients.
    private static let listening: [ServerSetting] = [
        ServerSetting(
            "listen.host", option: "host",
            read: { reader, json, options throws(Problem) in options.host = try reader.text(json) },
            show: { .string($0.host) }),
        .number("listen.port", option: "port", \.port, in: 0...65_535),
        ServerSetting("admin", read: readAdmin, show: { .string($0.admin.description) }),
        .flag("noAdmin", \.administersOnMain, isInverted: true),
        .flag("insecure", \.isInsecure),
        .texts("allowHosts", option: "allow-host", \.extraHosts, defect: HostPolicy.defect(in:)),
        .texts("allowOrigins", option: "allow-origin", \.corsOrigins, defect: OriginPolicy.defect(in:)),
    ]

    /// Reads the address of the administrators: `HOST:PORT`, `unix:PATH` or `none`, or an object
    /// with `host` and `port`, or with `unix`.
    private static let readAdmin: Read = { reader, json, options throws(Problem) in
        guard let object = json.object else {
            guard let address = AdminAddress(try reader.text(json)) else {
                throw reader.problem("expected HOST:PORT, such as 127.0.0.1:8081, unix:PATH or none")
            }
            options.admin = address
            return
        }
        _ = try SchemaReader(place: reader.place).members(json, ["host", "port", "unix"], reader.place)
        if let path = object["unix"] {
            guard object.count == 1 else { throw reader.problem("'unix' cannot be combined with 'host' or 'port'") }
            options.admin = .unix(path: try reader.inside("unix").path(path))
            return
        }
        let host = try object["host"].map { json throws(Problem) in try reader.inside("host").text(json) }
        let port = try object["port"].map { json throws(Problem) in try reader.inside("port").number(json, 0...65_535) }
        options.admin = .port(host: host ?? "127.0.0.1", port: port ?? AdminAddress.usualPort)
    }

    // MARK: - Realms

    private static let realms: [ServerSetting] = [
        ServerSetting(
            "data",
            read: { reader, json, options throws(Problem) in options.dataFolder = try reader.path(json) },
            show: { $0.dataFolder.map { .string($0) } ?? .null }),
        ServerSetting(
            "layout",
            read: { reader, json, options throws(Problem) in
                let name = try reader.choice(json, among: DataFolder.Layout.allCases.map(\.rawValue))
                options.layout = DataFolder.Layout(rawValue: name) ?? options.layout
            },
            show: { .string($0.layout.rawValue) }),
        ServerSetting(
            "idle.closeAfter", option: "close-after", effect: .now,
            read: { reader, json, options throws(Problem) in
                let rule = "expected a time up to 366d, such as 500ms, 300s or 5m; 0 for never"
                options.idleSeconds = try reader.time(json, .zero ... .seconds(366 * 86_400), rule).inSeconds
            },
            show: { options in
                Int64(exactly: options.idleSeconds).map { .integer($0) } ?? .real(options.idleSeconds)
            }),
        ServerSetting(
            "idle.maxOpen", option: "max-open", effect: .now,
            read: { reader, json, options throws(Problem) in options.openLimit = try reader.number(json, 1...(1 << 20)) },
            show: { .integer(Int64($0.openLimit ?? $0.limits.realms)) }),
        ServerSetting(
            "stopAfter", option: "stop-after",
            read: { reader, json, options throws(Problem) in
                let rule = "expected a time up to 1h, such as 500ms, 10s or 1m"
                options.graceSeconds = try reader.time(json, .zero ... .seconds(3600), rule).inSeconds
            },
            show: { options in
                Int64(exactly: options.graceSeconds).map { .integer($0) } ?? .real(options.graceSeconds)
            }),
        ServerSetting(
            "files",
            read: { reader, json, options throws(Problem) in
                options.paths = try reader.list(json) { reader, one throws(Problem) in try reader.path(one) }
                options.startsWithoutFiles = !reader.isCommandLine
            },
            show: { .array($0.paths.map { .string($0) }) }),
        .texts("attachRoots", option: "attach-root", \.attachRoots, arePaths: true),
        ServerSetting(
            "default", effect: .now,
            read: { reader, json, options throws(Problem) in
                let text = try reader.text(json)
                guard RealmName(text) != nil else { throw reader.problem(RealmName.rule) }
                options.defaultRealm = text
            },
            show: { $0.defaultRealm.map { .string($0) } ?? .null }),
        ServerSetting(
            "realms", effect: .openings,
            read: { reader, json, options throws(Problem) in
                for (name, value) in try reader.members(json) {
                    options.realms.append(try ConfiguredRealm(name, value, reader.inside(name)))
                }
            },
            show: { .object(JSONObject($0.realms.map { ($0.name.text, $0.entry) })) }),
        ServerSetting(
            "memory",
            read: { reader, json, options throws(Problem) in
                options.memoryRealms = []
                for (index, name) in try reader.list(json, { reader, one throws(Problem) in try reader.text(one) }).enumerated() {
                    guard RealmName(name) != nil else { throw reader.inside(index).problem(RealmName.rule) }
                    guard !options.memoryRealms.contains(name) else {
                        throw reader.inside(index).problem("two realms would be served as '\(name)'")
                    }
                    options.memoryRealms.append(name)
                }
            },
            show: { .array($0.memoryRealms.map { .string($0) }) }),
        ServerSetting(
            "keys", option: "key", effect: .openings, isMerged: true,
            read: { reader, json, options throws(Problem) in
                for (name, value) in try reader.members(json) {
                    let reader = reader.inside(name)
                    guard RealmName(name) != nil else { throw reader.problem(RealmName.rule) }
                    options.keys[name] = try reader.key(value)
                }
            },
            show: { .object(JSONObject($0.keys.keys.sorted().texts.map { ($0, .string("***")) })) }),
        ServerSetting(
            "backlinkNames", effect: .openings, isMerged: true,
            read: { reader, json, options throws(Problem) in
                for (name, value) in try reader.members(json) {
                    options.backlinkNames[name] = try backlinkNames(value, reader.inside(name))
                }
            },
            show: { options in
                .object(JSONObject(options.backlinkNames.sorted { $0.key < $1.key }.map { ($0.key.text, show($0.value)) }))
            }),
        ServerSetting(
            "requireIfMatch",
            read: { reader, json, options throws(Problem) in
                options.conditionalClasses = Set(
                    texts: try reader.list(json) { reader, one throws(Problem) in
                        let text = try reader.text(one)
                        guard ServerOptions.realm(ofClass: text) != nil else {
                            throw reader.problem("expected REALM.CLASS, such as app.Dog")
                        }
                        return text
                    })
            },
            show: { .array($0.conditionalClasses.sorted().texts.map { .string($0) }) }),
        .flag("readOnly", \.isReadOnly),
        .flag("follow", \.followsFiles),
        ServerSetting(
            "upgrade", effect: .openings,
            read: { reader, json, options throws(Problem) in
                options.upgradesInPlace = try reader.choice(json, among: ["in-place", "none"]) == "in-place"
            },
            show: { .string($0.upgradesInPlace ? "in-place" : "none") }),
        ServerSetting(
            "verify", effect: .openings,
            read: { reader, json, options throws(Problem) in
                let name = try reader.choice(json, among: FileStore.Verification.allCases.map(\.rawValue))
                options.verification = FileStore.Verification(rawValue: name) ?? options.verification
            },
            show: { .string($0.verification.rawValue) }),
        .number("keepMigrationBackups", \.keptCopyCount, in: 0...1000, effect: .openings),
        ServerSetting(
            "undo", effect: .openings,
            read: { reader, json, options throws(Problem) in options.retention = try Retention(json, at: reader.place) },
            show: { $0.retention.json }),
        ServerSetting(
            "backup", effect: .now, read: readBackup, show: { $0.backupPlan.map(showBackup) ?? .null }),
    ]

    /// Reads names of linking objects: an object, or the path of a file with one.
    private static func backlinkNames(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> BacklinkNames {
        do throws(Problem) {
            if json.object != nil { return try BacklinkNames(json) }
            return try BacklinkNames(json: try contents(try reader.path(json)))
        } catch {
            throw reader.problem(error.detail)
        }
    }

    /// Returns the contents of a file with names.
    private static func contents(_ path: String) throws(Problem) -> [UInt8] {
        do throws(StorageError) {
            return try FileMapping.contents(ofFile: path, limit: 1 << 20)
        } catch {
            throw Problem(.invalidBody, "'\(path)' cannot be read: \(error)")
        }
    }

    /// Returns names of linking objects as a file states them.
    private static func show(_ names: BacklinkNames) -> JSONValue {
        .object(
            JSONObject(
                names.byClass.sorted { $0.key < $1.key }.map { className, names in
                    let members = names.sorted { $0.key < $1.key }.map { (name: $0.key.text, value: JSONValue.string($0.value)) }
                    return (name: className.text, value: .object(JSONObject(members)))
                }))
    }

    // MARK: - Backups

    /// Reads the plan of backups: `every`, `to`, `keep` and `keyFile`, and for a bucket `endpoint`, `region` and `credentials`.
    private static let readBackup: Read = { reader, json, options throws(Problem) in
        let object = try SchemaReader(place: reader.place).members(json, ServerSetting.backupMembers, reader.place)
        guard let every = object["every"], let place = object["to"] else {
            throw reader.problem("'every' and 'to' must be given")
        }
        let rule = "expected a time from 1s to 366d, such as 30m, 1h or 7d"
        let interval = try reader.inside("every").time(every, BackupPlan.intervals, rule)
        let target = try target(place, object, reader)
        let store: any BackupStore
        do throws(BackupTarget.Rejection) {
            store = try target.store(options.environment)
        } catch {
            throw reader.inside(error.part.rawValue).problem(error.text)
        }
        var plan = BackupPlan(every: interval, to: store)
        plan.target = target
        if let keep = object["keep"] { plan.retention = try retention(keep, reader.inside("keep")) }
        if let file = object["keyFile"] { plan.key = try reader.inside("keyFile").key(file) }
        options.backupPlan = plan
    }

    /// Reads where backups go. Relative paths start from the folder of the configuration file.
    private static func target(
        _ place: JSONValue, _ object: JSONObject, _ reader: SettingReader
    ) throws(Problem) -> BackupTarget {
        let isURL = BackupTarget.isURL(try reader.inside("to").text(place))
        var target = BackupTarget(isURL ? try reader.inside("to").text(place) : try reader.inside("to").path(place))
        if let endpoint = object["endpoint"] { target.endpoint = try reader.inside("endpoint").text(endpoint) }
        if let region = object["region"] { target.region = try reader.inside("region").text(region) }
        if let file = object["credentials"] { target.credentials = try reader.inside("credentials").path(file) }
        return target
    }

    /// Returns a plan of backups as `readBackup` reads it, without its key.
    private static func showBackup(_ plan: BackupPlan) -> JSONValue {
        let members: [(name: String, value: String?)] = [
            ("every", DurationText.text(plan.every)), ("to", plan.target?.place), ("keep", plan.retention?.description),
            ("keyFile", plan.key.map { _ in "***" }), ("endpoint", plan.target?.endpoint), ("region", plan.target?.region),
            ("credentials", plan.target?.credentials),
        ]
        return .object(JSONObject(members.compactMap { name, value in value.map { (name, .string($0)) } }))
    }

    /// Reads which backups are kept: an object, or the text of the command line.
    static func retention(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> BackupRetention {
        var text = json.string ?? ""
        if let object = json.object {
            var parts: [String] = []
            _ = try SchemaReader(place: reader.place).members(
                json, BackupRetention.Period.allCases.map(\.rawValue), reader.place)
            for (name, value) in object.members { parts.append("\(name)=\(try reader.inside(name).number(value, 0...10_000))") }
            text = parts.joined(separator: ",")
        }
        guard let retention = BackupRetention(text) else {
            throw reader.problem("expected numbers for hourly, daily, weekly or monthly, such as {hourly: 24, daily: 7}")
        }
        return retention
    }

    // MARK: - Requests

    /// The settings for the rights of requests.
    private static let requests: [ServerSetting] = [
        .flag("noTransactions", \.allowsTransactions, isInverted: true),
        .flag("serverTiming", \.showsTiming),
        .flag("noConsole", \.showsConsole, isInverted: true),
    ]

    // MARK: - The log

    private static let logging: [ServerSetting] = [
        ServerSetting(
            "log.format", option: "log-format", effect: .now,
            read: { reader, json, options throws(Problem) in
                let name = try reader.choice(json, among: AccessLog.Format.allCases.map(\.rawValue) + ["none"])
                options.logFormat = AccessLog.Format(rawValue: name)
            },
            show: { .string($0.logFormat?.rawValue ?? "none") }),
        ServerSetting(
            "log.level", option: "log-level", effect: .now,
            read: { reader, json, options throws(Problem) in
                let name = try reader.choice(json, among: AccessLog.Level.allCases.map(\.name))
                options.logLevel = AccessLog.Level(name: name) ?? options.logLevel
            },
            show: { .string($0.logLevel.name) }),
    ]
}
