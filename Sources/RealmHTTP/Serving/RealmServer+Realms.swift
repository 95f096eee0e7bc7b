// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The realms that a server opens before it answers.
extension RealmServer {
    /// Opens everything that the options name. A file that was named by itself has to open; those in folders are reported,
    /// and listed with their error.
    static func open(_ options: ServerOptions, _ catalog: Catalog, _ report: (String) -> Void) throws(Failure) {
        for path in options.paths {
            if RealmFiles.isFolder(path) {
                try openFolder(path, options, in: catalog, report: report)
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
            try openFolder(folder, options, in: catalog, report: report)
        }
        for name in options.memoryRealms { try openInMemory(name, options, catalog) }
    }

    /// Files that cannot be opened are reported, and listed with their error.
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

    private static func open(_ path: String, _ options: ServerOptions, _ catalog: Catalog) throws(Failure) -> Catalog.State {
        guard let name = RealmName(file: path) else {
            throw Failure(description: "\(path): \(RealmName.rule)")
        }
        do throws(Catalog.Failure) {
            try catalog.reserve(name, path: path)
        } catch {
            throw Failure(description: "two files would be served as '\(name)'")
        }
        do throws(StorageError) {
            var opening = options.openOptions
            opening.key = try key(of: name, options)
            opening.mode = options.isReadOnly ? .readOnly : nil
            opening.upgradesInPlace = options.upgradesInPlace
            opening.backlinkNames = options.backlinkNames[name.text] ?? .none
            return catalog.open(name, path: path, opening)
        } catch {
            throw Failure(description: "the key of '\(name)' in the environment: \(error)")
        }
    }

    /// Names that do not fit the schema, or belong to no realm, stop the start.
    static func checkBacklinkNames(_ options: ServerOptions, _ catalog: Catalog) throws(Failure) {
        for (realm, names) in options.backlinkNames.sorted(by: { $0.key < $1.key }) {
            guard let state = catalog[realm] else {
                throw Failure(description: "backlink names for '\(realm)': there is no realm of this name")
            }
            if case .ready(let database) = state, let mistake = names.mistake(in: database.current.snapshot) {
                throw Failure(description: "backlink names for '\(realm)': \(mistake)")
            }
        }
    }

    private static func key(of name: RealmName, _ options: ServerOptions) throws(StorageError) -> EncryptionKey? {
        if let key = options.keys[name.text] { return key }
        // Variables cannot have the dots and hyphens that names may have.
        let variable = "REALM_REST_KEY_" + String(name.text.map { $0 == "." || $0 == "-" ? "_" : $0 })
        return try options.environment(variable).map { text throws(StorageError) in try EncryptionKey(text: text) }
    }
}
