// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmLegacy
internal import RealmPlatform
internal import RealmStorage

/// The realms that a server opens at its start, before it accepts requests.
extension RealmServer {
    /// Opens all realms that the options name: files, folders, the data folder and realms in memory.
    ///
    /// A file that the command line names has to open, otherwise the server does not start. A file of the configuration
    /// or in a folder that cannot be opened is reported, and stays in the catalog with its error.
    ///
    /// - Parameters:
    ///   - catalog: The catalog that receives the realms.
    ///   - report: Called with a sentence about each file that is not served, or that is served for
    ///     reading only against expectation.
    /// - Throws: `Failure` when a named file or a realm in memory cannot be opened, when a folder
    ///   cannot be read, or when two files would have the same name.
    static func open(_ live: LiveOptions, _ catalog: Catalog, _ report: (String) -> Void) throws(Failure) {
        let options = live.current
        try requireOutsideOfCluster(options)
        ConvertedFile.cleanCache()
        for path in options.paths {
            if RealmFiles.isFolder(path) {
                try openFolder(path, options, in: catalog, report: report)
            } else {
                switch try open(path, options, catalog) {
                case .failed(let error):
                    let text = "\(path): \(error)\(keyHint(error, path, options))"
                    guard options.startsWithoutFiles || options.opensWithoutKeys && lacksKey(error) else {
                        throw Failure(description: text)
                    }
                    report(text)
                case .ready(let database): reportReadOnly(database, report)
                case .opening, .closed: break
                }
            }
        }
        for realm in options.realms { try open(realm, options, in: catalog, report: report) }
        if let folder = options.dataFolder { try serve(folder, live, in: catalog, report: report) }
        for name in options.memoryRealms { try openInMemory(name, options, catalog) }
    }

    /// Checks that no file of the data folder of a node is opened explicitly as a realm: its commits would not be in the log.
    private static func requireOutsideOfCluster(_ options: ServerOptions) throws(Failure) {
        guard options.cluster.address != nil, let folder = options.dataFolder else { return }
        let root = ((try? System.resolved(folder)) ?? folder) + "/"
        for path in options.paths + options.realms.map(\.path) {
            guard (((try? System.resolved(path)) ?? path) + "/").hasPrefix(root) else { continue }
            throw Failure(
                description:
                    "\(path): the cluster manages the files of the folder \(folder): do not pass them to the command line")
        }
    }

    /// Serves the files of the data folder, each of which is opened by the first request for it.
    private static func serve(
        _ folder: String, _ live: LiveOptions, in catalog: Catalog, report: (String) -> Void
    ) throws(Failure) {
        let options = live.current
        do throws(RealmFiles.Failure) {
            let names = try RealmFiles.names(in: folder)
            if !options.isReadOnly { NewFile.removeLeftovers(inFolder: folder, names: names) }
            for name in names where name.hasSuffix(".realm") && RealmName(file: name) == nil {
                report("\(folder)/\(name): not served: \(RealmName.rule)")
            }
            // The paths of realms that were opened are resolved, so that a file is not served twice.
            let path = (try? System.resolved(folder)) ?? folder
            let data = try DataFolder(path: path, layout: options.layout) { [live] name throws(StorageError) in
                try live.current.opening(of: name)
            }
            for path in data.takeHidden() { report(RealmSupervisor.hidden(path)) }
            if !options.isReadOnly { data.makeShards() }
            catalog.serve(data)
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// Opens a realm that the configuration names. One that cannot be opened is reported, and stays
    /// in the catalog with its error.
    private static func open(
        _ realm: ConfiguredRealm, _ options: ServerOptions, in catalog: Catalog, report: (String) -> Void
    ) throws(Failure) {
        do throws(Catalog.Failure) {
            try catalog.reserve(realm.name, path: realm.path)
        } catch {
            throw Failure(description: "two realms would be served as '\(realm.name)'")
        }
        let opening: Database.OpenOptions
        do throws(StorageError) {
            opening = try options.opening(of: realm)
        } catch {
            throw Failure(description: "the key of '\(realm.name)' in the environment: \(error)")
        }
        switch catalog.open(realm.name, path: realm.path, opening) {
        case .failed(let error): report("\(realm.path): \(error)")
        case .ready(let database):
            reportReadOnly(database, report)
        case .opening, .closed: break
        }
    }

    /// Opens the realm files of a folder. Files that cannot be opened, have no usable name or are
    /// beyond the limit of realms are reported and do not stop the start.
    private static func openFolder(
        _ folder: String, _ options: ServerOptions, in catalog: Catalog, report: (String) -> Void
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
            // The configuration serves the file, perhaps under another name.
            guard catalog.nameServing(path: path) == nil else { continue }
            guard catalog.count < options.limits.realms else {
                report("\(path): not served: there are \(catalog.count) realms already")
                continue
            }
            switch try open(path, options, catalog) {
            case .failed(let error): report("\(path): \(error)")
            case .ready(let database): reportReadOnly(database, report)
            case .opening, .closed: break
            }
        }
    }

    /// Whether a file is encrypted and its key is missing or wrong.
    private static func lacksKey(_ error: StorageError) -> Bool {
        switch error {
        case .refused(.encryptionKeyRequired), .refused(.encryptionKeyWrong): return true
        default: return false
        }
    }

    /// Returns how a key is given, after the error about a file that needs one; for other errors nothing.
    private static func keyHint(_ error: StorageError, _ path: String, _ options: ServerOptions) -> String {
        guard case .refused(.encryptionKeyRequired) = error, let name = RealmName(file: path) else { return "" }
        let other = options.keys.keys.isEmpty ? "" : Suggestion.hint(for: name.text, in: options.keys.keys.sorted().texts)
        let misspelt = other.isEmpty ? "" : "; the given name differs"
        return "; --key \(name.text)=FILE gives its key\(misspelt)"
    }

    /// Reports a realm that is read-only although the options do not ask for that, so that the
    /// operator learns of it before a client tries to write.
    private static func reportReadOnly(_ database: Database, _ report: (String) -> Void) {
        if let reason = database.readOnlyReason { report("\(database.path): served for reading only: \(reason)") }
    }

    /// Makes an empty realm in memory, whose identifier is its name.
    private static func openInMemory(_ text: String, _ options: ServerOptions, _ catalog: Catalog) throws(Failure) {
        guard let name = RealmName(text) else {
            throw Failure(description: "'\(text)': \(RealmName.rule)")
        }
        do throws(Catalog.Failure) {
            try catalog.reserve(name)
        } catch {
            throw Failure(description: "two realms would be served as '\(name)'")
        }
        guard case .failed(let error) = catalog.openInMemory(name, identifier: text, options.openOptions) else { return }
        throw Failure(description: "\(text): \(error)")
    }

    /// Opens one file under the name that follows from its path.
    ///
    /// - Returns: The state of the realm in the catalog: open, or failed with the error of the
    ///   storage.
    /// - Throws: `Failure` for a path that gives no valid name, for a name that is taken, and for a
    ///   malformed key in the environment.
    private static func open(_ path: String, _ options: ServerOptions, _ catalog: Catalog) throws(Failure) -> Catalog.State {
        guard let name = RealmName(file: path) else {
            throw Failure(description: "\(path): \(RealmName.rule); a configuration file gives it one: realms: {NAME: {path: …}}")
        }
        do throws(Catalog.Failure) {
            try catalog.reserve(name, path: path)
        } catch {
            throw Failure(description: "two files would be served as '\(name)'")
        }
        do throws(StorageError) {
            return catalog.open(name, path: path, try options.opening(of: name))
        } catch {
            throw Failure(description: "the key of '\(name)' in the environment: \(error)")
        }
    }

    /// The lines that the command line prints about the realms at the start: name, mode and, when it is not `rw`, the reason;
    /// then the numbers of classes and objects, and the URL.
    ///
    /// - Parameter limit: The number of listed realms; a last line counts the others.
    package func summaries(limit: Int) -> [String] {
        let realms = state.catalog.page(after: nil, limit: limit).realms
        let count = state.catalog.listedCount
        var lines = realms.map { name, state in
            let place = "\(url)/v1/realms/\(name)"
            switch state {
            case .opening: return "\(name): opening, \(place)"
            case .closed: return "\(name): opened by the first request, \(place)"
            case .failed(let error): return "\(name): failed: \(error), \(place)"
            case .ready(let database):
                let classes = database.current.snapshot.classes
                let mode = database.servedMode.rawValue
                let reason = database.readOnlyReason.map { " (\($0))" } ?? ""
                let objects = classes.reduce(0) { $0 + $1.count }
                return "\(name): \(mode)\(reason), \(classes.count) classes, \(objects) objects, \(place)"
            }
        }
        if count > realms.count { lines.append("and \(count - realms.count) more realms") }
        if let folder = state.catalog.folder, folder.count == 0 { lines.append("no .realm file in \(folder.path)") }
        for folder in state.options.paths where RealmFiles.isFolder(folder) && (try? RealmFiles.list(in: folder).isEmpty) ?? false
        {
            lines.append("no .realm file in \(folder)")
        }
        return lines
    }

    /// Checks that the roles fit the schemas of the realms of the configuration that could be opened.
    ///
    /// - Parameters:
    ///   - configuration: Their source, which knows the lines; nil when they were not read.
    /// - Throws: `Failure` with the file and the line of the first rule that names a class or property that a schema lacks.
    static func checkRoles(
        _ options: ServerOptions, _ configuration: Configuration?, _ catalog: Catalog
    ) throws(Failure) {
        guard let defect = options.roleDefect(in: catalog, readsFiles: false) else { return }
        throw Failure(description: "\(configuration?.error(about: defect) ?? ConfigurationError(text: "\(defect)"))")
    }

    /// Checks that the roles of the stored keys exist.
    ///
    /// - Throws: `Failure` with the first key that has another role.
    static func checkRolesOfKeys(_ options: ServerOptions) throws(Failure) {
        guard let folder = options.dataFolder,
            let defect = CredentialCheck(options).defect(ofKeys: KeyFile(dataFolder: folder))
        else { return }
        throw Failure(description: defect)
    }

    /// Checks that the configured names of linking objects are for realms that are served. Whether they fit the schema is
    /// checked when a realm is opened.
    ///
    /// - Throws: `Failure` when a name belongs to no realm.
    static func checkBacklinkNames(_ options: ServerOptions, _ catalog: Catalog) throws(Failure) {
        for realm in options.backlinkNames.keys.sorted().texts where catalog[realm] == nil {
            let names = catalog.page(after: nil, limit: 1000).realms.map(\.name)
            let hint = Suggestion.hint(for: realm, in: names)
            throw Failure(description: "backlink names for '\(realm.truncated)': there is no realm of this name\(hint)")
        }
    }
}
