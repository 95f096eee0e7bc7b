// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
package import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Reads the configuration of a running server again and puts it in force.
///
/// Settings that can change while the server runs are in force for all that begins from then on. Realms
/// that are open keep their options, and the rest waits for the next start; the result names both. A
/// configuration that cannot be read changes nothing.
///
/// There is one in a server. Reading waits for files, so `run` belongs on a worker or on the thread that receives signals.
package final class Reloading: Sendable {
    /// The changes of a reload.
    package struct Result: Sendable {
        /// The names of the settings whose new values are in force.
        package fileprivate(set) var applied: [String] = []
        /// The names of the settings whose new values are in force after the next start.
        package fileprivate(set) var restart: [String] = []
        /// The names of realms that keep the options with which they were opened, at most `keptLimit`.
        package fileprivate(set) var keptFor: [String] = []
        /// The names of realms that were not served before and are ready now.
        package fileprivate(set) var added: [String] = []
        /// The names of realms of the configuration that could not be opened; they are tried again.
        package fileprivate(set) var failed: [String] = []
    }

    /// The number of realms that a result names.
    static let keptLimit = 1000

    private struct State {
        var isRunning = false
        /// The names of the realms that a configuration has named since the server was started.
        var named: Set<ByteText> = []
        /// The number of reloads that were put in force.
        var successes = 0
        /// The number of reloads that changed nothing because the configuration could not be read.
        var failures = 0
    }

    /// The source of the options of the server; nil for options that were not read.
    private let configuration: Configuration?
    /// The options in force.
    private let options: LiveOptions
    /// The leases of clients.
    private let leases: LeaseRegistry
    /// The realms of the server.
    private let directory: RealmDirectory
    /// The backups, whose plan may change.
    private let backups: BackupService
    /// Verifies tokens, whose issuers may change.
    private let tokens: TokenVerifier
    /// The log, whose format may change; nil without a log.
    private let accessLog: AccessLog?
    /// The audit log, whose file is opened again; nil without one.
    private let audit: AuditLog?
    /// The certificates, which are read again; nil without encryption.
    private let tls: TLSStore?
    /// The level of the log, which may change.
    private let logLevel: AccessLog.LevelSwitch
    private let state = RankedMutex(.leaf, State())

    /// Makes the reloading of a server.
    ///
    /// - Parameters:
    ///   - configuration: The source of the options; nil when they were not read.
    ///   - options: The options in force.
    ///   - leases: The leases of clients.
    ///   - tls: The certificates of the server; nil without encryption.
    ///   - accessLog: The log; nil for none.
    ///   - audit: The audit log; nil for none.
    init(
        _ configuration: Configuration?, _ options: LiveOptions, directory: RealmDirectory, leases: LeaseRegistry,
        backups: BackupService, tokens: TokenVerifier, tls: TLSStore?, accessLog: AccessLog?, audit: AuditLog?,
        logLevel: AccessLog.LevelSwitch
    ) {
        self.configuration = configuration
        self.options = options
        self.directory = directory
        self.leases = leases
        self.backups = backups
        self.tokens = tokens
        self.tls = tls
        self.accessLog = accessLog
        self.audit = audit
        self.logLevel = logLevel
        let names = options.current.realms.map(\.name.text)
        state.withLock { $0.named = Set(texts: names) }
    }

    /// Whether the server was started with a configuration file, which can be read again.
    package var isPossible: Bool { configuration?.hasFile ?? false }

    /// Reads the configuration again and puts it in force.
    ///
    /// - Returns: The changes.
    /// - Throws: `invalid_body` as 422, with the file and the line, when it cannot be read or does not fit; `invalid_configuration` when
    ///   there is no configuration file; `overloaded` while another reload runs. Nothing has changed then.
    package func run() throws(Problem) -> Result {
        // The file may have been renamed, regardless of the configuration.
        reopenAudit()
        guard let configuration, configuration.hasFile else {
            throw Problem(.invalidConfiguration, "the server was started without a configuration file")
        }
        guard
            state.withLock({ state in
                state.isRunning
                    ? false
                    : {
                        state.isRunning = true; return true
                    }()
            })
        else {
            var problem = Problem(.overloaded, "a reload is already in progress")
            problem.retryAfterSeconds = 1
            throw problem
        }
        defer { state.withLock { $0.isRunning = false } }
        do throws(ConfigurationError) {
            let read = try configuration.again()
            read.keySets.keep(tokens.keysInForce)
            try read.check()
            // Before any option is in force: a role must not grant less in a realm than intended.
            if let defect = read.options.roleDefect(in: directory.catalog, readsFiles: true) {
                throw read.error(about: defect)
            }
            try requireAdministration(read.options)
            try replaceIssuers(read)
            let result = apply(read.options)
            state.withLock { $0.successes += 1 }
            return result
        } catch {
            state.withLock { $0.failures += 1 }
            throw Reloading.refusal(error)
        }
    }

    /// Refuses options with which stored keys have roles that do not exist, or with which no client could administer the server
    /// although one could before.
    private func requireAdministration(_ read: ServerOptions) throws(ConfigurationError) {
        guard let folder = options.current.dataFolder else { return }
        let file = KeyFile(dataFolder: folder)
        let check = CredentialCheck(read)
        if let defect = check.defect(ofKeys: file) { throw ConfigurationError(text: defect) }
        guard let keys = try? file.read(), CredentialCheck(options.current).isAdministered(keys), !check.isAdministered(keys)
        else { return }
        throw ConfigurationError(
            text: "no credential could administer the server any more; make a key with the role 'admin' first")
    }

    /// Makes the problem of a file that cannot be put in force. Its detail begins with the file and the line.
    private static func refusal(_ error: ConfigurationError) -> Problem {
        var problem = Problem(.invalidBody, "\(error)")
        problem.status = 422
        return problem
    }

    /// Puts the issuers of tokens in force. It comes first, as it may fail, and is done even if none has changed,
    /// because their files may have.
    private func replaceIssuers(_ read: Configuration) throws(ConfigurationError) {
        do throws(TokenVerifier.Failure) {
            try tokens.replace(with: read.options.tokenIssuers, read.keySets)
        } catch {
            throw ConfigurationError(text: error.description)
        }
    }

    /// Reopens the file of the audit log, so that a renamed one is left alone.
    ///
    /// - Returns: Whether there is an audit log.
    @discardableResult package func reopenAudit() -> Bool {
        audit?.reopen()
        return audit != nil
    }

    package var hasCertificates: Bool { tls != nil }

    /// Reads the certificates again where there is no configuration file that names them.
    ///
    /// - Returns: Whether there are certificates, and they can be used.
    package func readCertificates() -> Bool {
        guard let tls else { return false }
        return (try? tls.replace(with: options.current.tls)) != nil
    }

    // MARK: - Putting in force

    /// Puts options in force as far as that is possible while the server runs.
    private func apply(_ read: ServerOptions) -> Result {
        let old = options.takeReloaded(read)
        let new = options.current
        let changed = old.changedSettings(from: new)
        var result = Result()
        result.applied = changed.map(\.name)
        // The remaining differences were not taken over.
        result.restart = new.changedSettings(from: read).map(\.name)
        let names = result.applied
        if names.contains("roles") { endOutdated() }
        if names.contains("log.level") { logLevel.set(new.logLevel) }
        if names.contains("log.format"), let format = new.logFormat { accessLog?.setFormat(format) }
        if names.contains("idle.maxOpen") || names.contains("limits.realms") {
            directory.catalog.openLimit = min(new.openLimit ?? new.limits.realms, directory.realmLimit)
        }
        if names.contains("backup"), (try? backups.replacePlan(with: new.backupPlan)) == nil {
            accessLog?.note("backups_not_started", realm: "", "the system provides no thread", level: .error)
        }
        if names.contains(where: { $0.hasPrefix("audit.") }) { audit?.replace(with: new.audit) }
        // Unusable certificates were refused before, or report themselves.
        try? tls?.replace(with: new.tls)
        state.withLock { $0.named.formUnion(new.realms.map(\.name.text)) }
        serve(new.realms, &result)
        result.keptFor = Array(keptRealms(new).sorted().texts.prefix(Reloading.keptLimit))
        return result
    }

    /// Ends everything begun with rights that its owner has lost.
    private func endOutdated() {
        directory.notifications.endOutdated()
        leases.endOutdated()
        directory.catalog.refuseOutdatedWrites()
    }

    /// Serves the realms of the configuration that are not served yet, or that could not be opened.
    ///
    /// One that cannot be opened is listed as failed, and tried again.
    ///
    /// - Parameters:
    ///   - result: Receives their names.
    private func serve(_ realms: [ConfiguredRealm], _ result: inout Result) {
        let catalog = directory.catalog
        for realm in realms {
            if case .failed? = catalog[realm.name.text] { catalog.remove(realm.name.text) }
            guard catalog[realm.name.text] == nil, catalog.count < directory.realmLimit else { continue }
            guard (try? catalog.reserve(realm.name, path: realm.path)) != nil else { continue }
            do throws(StorageError) {
                catalog.open(realm.name, path: realm.path, try options.current.opening(of: realm))
            } catch {
                try? catalog.settle(realm.name, .failed(error))
            }
            if case .ready? = catalog[realm.name.text] {
                result.added.append(realm.name.text)
            } else {
                result.failed.append(realm.name.text)
            }
        }
    }

    /// The names of the realms that are open with other options than those of the configuration, or that it no longer names.
    /// Realms that are not open take their new options when they are opened.
    private func keptRealms(_ new: ServerOptions) -> Set<ByteText> {
        let catalog = directory.catalog
        let configured = Dictionary(texts: new.realms.map { ($0.name.text, $0) }) { first, _ in first }
        let attached = directory.attachedOptions.withLock { Set($0.keys) }
        let base = new.openOptions
        var names = Set<ByteText>(
            texts: catalog.renew { name, opening in
                var wanted = opening
                if attached.contains(name) {
                    // The request has stated the rest.
                    wanted.options.limits = base.limits
                    wanted.options.observation = base.observation
                    wanted.options.verification = base.verification
                } else if let realm = configured[name] {
                    guard let options = try? new.opening(of: realm) else { return nil }
                    wanted = Catalog.Opening(path: realm.path, options: options)
                } else {
                    guard let realm = RealmName(name), let options = try? new.opening(of: realm) else { return nil }
                    wanted.options = options
                }
                return wanted
            })
        for name in catalog.openNames {
            let isInMemory = catalog.database(name)?.memoryIdentifier != nil
            if isInMemory, catalog.database(name)?.limits != base.limits { names.insert(name) }
        }
        let gone = state.withLock { $0.named }.filter { configured[$0] == nil && !attached.contains($0) }
        return names.union(gone.intersection(Set(texts: catalog.openNames)))
    }

    /// Appends the metrics: the number of reloads.
    func write(to text: inout MetricsText) {
        let (successes, failures) = state.withLock { ($0.successes, $0.failures) }
        text.counter(
            "configuration_reloads_total", "Reloads of the configuration by result.", by: "result",
            [("applied", successes), ("failed", failures)])
    }
}

extension Reloading.Result {
    /// The result as the body of a response.
    var json: OutputBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, values) in [
            ("applied", applied), ("added", added), ("failed", failed), ("keptFor", keptFor), ("restart", restart),
        ] {
            writer.key(name)
            writer.beginArray()
            for value in values { writer.string(value) }
            writer.endArray()
        }
        writer.endObject()
        return writer.buffer
    }

    /// The result as a sentence for the operator.
    package var description: String {
        var parts = ["configuration read again"]
        let lists = [
            ("in force", applied), ("served from now on", added), ("not opened yet", failed),
            ("open realms that keep their options", keptFor),
            ("in force after a restart", restart),
        ]
        for (title, values) in lists where !values.isEmpty { parts.append("\(title): \(values.joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }
}
