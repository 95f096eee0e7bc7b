// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmStorage

/// The backups of all realms of a server: copies beside their files, copies in files that requests have
/// named, and those of the backup plan.
///
/// There is one in a server. All functions wait for files or for the network, so they belong on workers.
final class BackupService: Sendable {
    /// The realms by name.
    private let catalog: Catalog
    /// Folders for the temporary files of planned backups that are read, in the order in which they are tried.
    private let spoolFolders: [String]
    /// The copies that requests stored outside of the data folder.
    let stored = StoredCopies()
    /// The backups of the plan; nil without one.
    let planned: PlannedBackups?

    /// Makes the backups of the realms in a catalog.
    ///
    /// - Parameters:
    ///   - catalog: The realms by name.
    ///   - planned: The backups of the plan; nil without one.
    ///   - spoolFolders: Folders for temporary files, in the order in which they are tried.
    init(_ catalog: Catalog, _ planned: PlannedBackups?, spoolFolders: [String]) {
        self.catalog = catalog
        self.spoolFolders = spoolFolders
        self.planned = planned
    }

    // MARK: - Finding

    /// Returns the backups of a realm, the newest first.
    ///
    /// - Parameter realm: The name of the realm.
    /// - Returns: The backups, and why those of the plan are not among them; nil when they are.
    /// - Complexity: Opens each copy beside the file, and lists the store of the plan.
    func list(of realm: String) -> (backups: [Backup], failure: StorageError?) {
        var backups = copies(of: realm).map { copies in copies.list().map { Backup($0, in: copies) } } ?? []
        backups += stored.list(of: realm)
        var failure: StorageError?
        do throws(StorageError) { backups += try listPlanned(realm) } catch { failure = error }
        return (backups.sorted { $0.time.nanoseconds > $1.time.nanoseconds }, failure)
    }

    /// Returns the backups of a realm in the store of the plan; none without a plan.
    private func listPlanned(_ realm: String) throws(StorageError) -> [Backup] {
        guard let planned, let name = RealmName(realm) else { return [] }
        return try planned.plan.store.list(of: name).map { Backup($0) }
    }

    /// Returns one backup of a realm.
    ///
    /// - Parameters:
    ///   - id: The id of the backup.
    ///   - realm: The name of the realm.
    /// - Throws: `not_found` when there is none; `filesystem_unsuitable` when the store of the plan cannot be
    ///   read.
    func find(_ id: String, of realm: String) throws(Problem) -> Backup {
        if id.hasPrefix(Backup.plannedPrefix) {
            do throws(StorageError) {
                if let backup = try listPlanned(realm).first(where: { $0.id == id }) { return backup }
            } catch {
                throw Problem(opening: error)
            }
        }
        if let copies = copies(of: realm), !id.contains("/"), let copy = copies.copy(id) { return Backup(copy, in: copies) }
        if let copy = stored.list(of: realm).first(where: { $0.id == id }) { return copy }
        throw Problem(.notFound, "there is no backup of this id")
    }

    /// The copies beside the file of a realm, whether it is open or has failed; nil for a realm without a
    /// file of its own.
    private func copies(of realm: String) -> FileCopies? {
        switch catalog[realm] {
        case .ready(let database)?: return database.copiesBeside
        case .failed?:
            guard let source = catalog.failedSource(realm), let path = try? System.resolved(source.path) else { return nil }
            return FileCopies(ofFile: path, key: source.options.key)
        case .closed(let realm)?:
            return (try? System.resolved(realm.path)).map { FileCopies(ofFile: $0, key: realm.key) }
        case .opening?, nil: return nil
        }
    }

    // MARK: - Reading and deleting

    /// Opens the file of a backup.
    ///
    /// - Parameters:
    ///   - backup: A backup that was found just now.
    ///   - request: The request whose client a temporary file is charged to.
    /// - Returns: The file, which stays readable when the backup is deleted.
    /// - Throws: `not_found` when it is gone; `filesystem_unsuitable` when it cannot be read; `overloaded` or
    ///   `insufficient_storage` when there is no room for a temporary file.
    func open(_ backup: Backup, for request: Request) throws(Problem) -> BodyFile {
        do throws(StorageError) {
            switch backup.place {
            case .beside(let copies): return try BodyFile(reading: copies.path(of: backup.id))
            case .file(let path): return try BodyFile(reading: path)
            case .planned(let name): return try read(StoredBackup(name, byteCount: backup.byteCount), for: request)
            }
        } catch {
            throw BackupService.problem(error)
        }
    }

    /// Copies a planned backup to a temporary file without a name.
    private func read(_ backup: StoredBackup, for request: Request) throws(StorageError) -> BodyFile {
        guard let planned else { throw .refused(.fileNotFound) }
        let file = try BodyFile.make(inOneOf: spoolFolders, try request.spool?.open(for: request.client))
        try file.fill(expecting: backup.byteCount) { descriptor throws(StorageError) in
            try planned.plan.store.get(backup, into: descriptor)
        }
        return file
    }

    /// Returns the SHA-256 of a backup without its file, where something else knows it; nil elsewhere.
    ///
    /// - Parameter backup: A backup that was found just now.
    /// - Throws: `not_found` when it is gone; `filesystem_unsuitable` when the store of the plan cannot be
    ///   read.
    func knownDigest(of backup: Backup) throws(Problem) -> [UInt8]? {
        guard backup.digest == nil, case .planned(let name) = backup.place else { return backup.digest }
        do throws(StorageError) {
            return try planned?.plan.store.digest(of: name)
        } catch {
            throw BackupService.problem(error)
        }
    }

    /// Deletes the file of a backup.
    ///
    /// - Parameter backup: A backup that was found just now.
    /// - Throws: `not_found` when it is gone; `filesystem_unsuitable` when the system refuses.
    func delete(_ backup: Backup) throws(Problem) {
        do throws(StorageError) {
            switch backup.place {
            case .beside(let copies): try System.delete(copies.path(of: backup.id))
            case .file(let path): try System.delete(path)
            case .planned(let name): try planned?.plan.store.delete(name)
            }
        } catch {
            throw BackupService.problem(error)
        }
    }

    /// Makes the problem for a backup whose file cannot be used.
    private static func problem(_ error: StorageError) -> Problem {
        if case .refused(.fileNotFound) = error { return Problem(.notFound, "the file of this backup is gone") }
        if case .io(_, let code) = error, [EDQUOT, ENOSPC].contains(code) { return Problem(keepingCopy: error) }
        return Problem(opening: error)
    }

    // MARK: - Making

    /// Makes a backup of the newest version of a realm now.
    ///
    /// - Parameters:
    ///   - database: The realm.
    ///   - control: Ends a copy that takes too long.
    /// - Returns: The backup.
    /// - Throws: `not_owned` for a realm without a file of its own; the problem of the disk.
    func make(of database: Database, _ control: WorkControl?) throws(Problem) -> Backup {
        let name: String?
        do throws(StorageError) {
            name = try database.makeCopyBeside(of: database.current.snapshot, control)
        } catch {
            throw Problem(opening: error)
        }
        guard let name else {
            throw Problem(.notOwned, "the realm has no file of its own that a copy could be kept beside")
        }
        return try find(name, of: database.name.text)
    }
}
