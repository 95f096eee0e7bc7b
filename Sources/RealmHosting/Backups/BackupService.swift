// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import MicroHTTP
package import RealmAccess
package import RealmBackups
package import RealmCalls
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The backups of all realms of a server: copies next to their files, copies in files that requests have named, and those of the
/// backup plan.
///
/// There is one in a server. All functions wait for files or for the network, so they belong on workers.
package final class BackupService: Sendable {
    /// The realms by name.
    private let catalog: Catalog
    /// Folders for the temporary files of planned backups that are read, in the order in which they are tried.
    private let spoolFolders: [String]
    /// The copies that requests stored outside of the data folder.
    package let stored = StoredCopies()
    /// The log, which gets a line for each failure of the plan; nil without a log.
    private let log: AccessLog?
    /// The audit log; nil without one.
    private let audit: AuditLog?
    /// The backups of the plan; nil without one.
    package var planned: PlannedBackups? { state.withLock { $0.planned } }

    /// The plan, which a reload of the configuration replaces.
    private struct State {
        /// The backups of the plan in force; nil without one.
        var planned: PlannedBackups?
        /// Whether the server runs, so that backups of a plan are made.
        var isStarted = false
    }

    private let state: RankedMutex<State>

    /// Makes the backups of the realms in a catalog.
    ///
    /// - Parameters:
    ///   - catalog: The realms by name.
    ///   - plan: The plan; nil for none.
    ///   - spoolFolders: Folders for temporary files, in the order in which they are tried.
    ///   - log: The log, which gets a line for each failure of the plan; nil for none.
    ///   - audit: The audit log, which gets a line for each backup of the plan; nil for none.
    package init(_ catalog: Catalog, _ plan: BackupPlan?, spoolFolders: [String], log: AccessLog?, audit: AuditLog? = nil) {
        self.audit = audit
        self.catalog = catalog
        self.spoolFolders = spoolFolders
        self.log = log
        state = RankedMutex(
            .leaf,
            State(planned: plan.map { PlannedBackups($0.makingFiles(inOneOf: spoolFolders), catalog, log: log, audit: audit) }))
    }

    // MARK: - The plan

    /// Begins to make the backups of the plan.
    ///
    /// - Throws: `Threads.Failure` when the system provides no thread.
    package func start() throws(Threads.Failure) {
        let planned = state.withLock { state in
            state.isStarted = true
            return state.planned
        }
        try planned?.start()
    }

    /// Ends the backups of the plan. It waits up to five seconds for one that is being made.
    package func stop() {
        let planned = state.withLock { state in
            state.isStarted = false
            return state.planned
        }
        planned?.stop()
    }

    /// Puts another plan in force, whose first round begins at once. A backup that is being made is cancelled.
    ///
    /// - Parameter plan: The plan; nil for none.
    /// - Throws: `Threads.Failure` when the system provides no thread.
    package func replacePlan(with plan: BackupPlan?) throws(Threads.Failure) {
        let next = plan.map { PlannedBackups($0.makingFiles(inOneOf: spoolFolders), catalog, log: log, audit: audit) }
        let (old, isStarted) = state.withLock { state -> (PlannedBackups?, Bool) in
            let old = state.planned
            state.planned = next
            return (old, state.isStarted)
        }
        old?.stop()
        if isStarted { try next?.start() }
    }

    // MARK: - Finding

    /// Returns the backups of a realm, the newest first.
    ///
    /// - Returns: The backups, and the reason why those of the plan are missing; nil when they are included.
    /// - Complexity: Opens each copy next to the file, and lists the store of the plan.
    package func list(of realm: String) -> (backups: [Backup], failure: StorageError?) {
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
    /// - Throws: `not_found` when there is none; `filesystem_unsuitable` when the store of the plan cannot be
    ///   read.
    package func find(_ id: String, of realm: String) throws(Problem) -> Backup {
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

    /// The copies next to the file of a realm, whether it is open or has failed; nil for a realm that does not own its file.
    private func copies(of realm: String) -> FileCopies? {
        switch catalog[realm] {
        case .ready(let database)?: return database.siblingCopies
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
    ///   - call: The request whose client a temporary file is charged to.
    ///   - control: Cancels the copying of a planned backup.
    /// - Returns: The file, which stays readable when the backup is deleted.
    /// - Throws: `not_found` when it is gone; `filesystem_unsuitable` when it cannot be read; `overloaded` or
    ///   `insufficient_storage` when there is no room for a temporary file.
    package func open(_ backup: Backup, for call: Call, _ control: WorkControl) throws(Problem) -> BodyFile {
        do throws(StorageError) {
            switch backup.place {
            case .nextToFile(let copies): return try BodyFile(reading: copies.path(of: backup.id))
            case .file(let path): return try BodyFile(reading: path)
            case .planned(let name): return try read(StoredBackup(name, byteCount: backup.byteCount), for: call, control)
            }
        } catch {
            throw BackupService.problem(error)
        }
    }

    /// Copies a planned backup to a temporary file without a name.
    private func read(
        _ backup: StoredBackup, for call: Call, _ control: WorkControl
    ) throws(StorageError) -> BodyFile {
        guard let planned else { throw .refused(.fileNotFound) }
        let file = try BodyFile.make(inOneOf: spoolFolders, try call.request.body.spool?.open(for: call.account))
        try file.fill(expecting: backup.byteCount) { descriptor throws(StorageError) in
            try planned.plan.store.get(backup, into: descriptor, control)
        }
        return file
    }

    /// Returns the SHA-256 of a backup without its file, where something else knows it; nil elsewhere.
    ///
    /// - Parameter backup: A backup that was found just now.
    /// - Throws: `not_found` when it is gone; `filesystem_unsuitable` when the store of the plan cannot be
    ///   read.
    package func knownDigest(of backup: Backup) throws(Problem) -> [UInt8]? {
        guard backup.digest == nil, case .planned(let name) = backup.place else { return backup.digest }
        do throws(StorageError) { return try planned?.plan.store.digest(of: name) } catch { throw BackupService.problem(error) }
    }

    /// Deletes the file of a backup.
    ///
    /// - Parameter backup: A backup that was found just now.
    /// - Throws: `not_found` when it is gone; `filesystem_unsuitable` when the system refuses.
    package func delete(_ backup: Backup) throws(Problem) {
        do throws(StorageError) {
            switch backup.place {
            case .nextToFile(let copies): try System.delete(copies.path(of: backup.id))
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

    /// Makes a backup of a version of a realm now.
    ///
    /// - Parameters:
    ///   - database: The realm.
    ///   - control: Ends a copy that takes too long. Detaching the realm cancels it.
    /// - Returns: The backup.
    /// - Throws: `not_owned` for a realm that does not own its file; `realm_not_found` when the realm was detached; the problem
    ///   of the disk.
    package func make(of version: Version, in database: Database, _ control: WorkControl) throws(Problem) -> Backup {
        let name: String?
        do throws(StorageError) {
            name = try catalog.work(on: database.name.text, control) { () throws(StorageError) in
                try database.makeSiblingCopy(of: version.snapshot, control)
            }
        } catch {
            throw control.isCancelled ? .noRealm : Problem(opening: error)
        }
        guard let name else {
            throw Problem(.notOwned, "in-memory realms and private copies cannot be backed up next to their file")
        }
        return try find(name, of: database.name.text)
    }
}

extension Problem {
    /// Makes the problem for a copy that cannot be kept in a file while it is sent: 503 `overloaded`
    /// when the budget for such files is used up, otherwise 507 `insufficient_storage`.
    ///
    /// - Parameter error: The error of the file.
    package init(keepingCopy error: StorageError) {
        self = Problem(spooling: error)
        detail =
            code == .overloaded
            ? "too many long bodies and copies are being processed at the moment; try again later"
            : "there is no room for the copy"
    }
}
