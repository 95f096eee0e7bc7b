// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The backups of all realms of a server: copies beside their files, copies in files that requests have
/// named, and those of the backup plan.
///
/// There is one in a server. All functions wait for files or for the network, so they belong on workers.
final class BackupService: Sendable {
    /// The realms by name.
    private let catalog: Catalog
    /// The copies that requests stored outside of the data folder.
    let stored = StoredCopies()

    /// Makes the backups of the realms in a catalog.
    ///
    /// - Parameter catalog: The realms by name.
    init(_ catalog: Catalog) { self.catalog = catalog }

    // MARK: - Finding

    /// Returns the backups of a realm, the newest first.
    ///
    /// - Parameter realm: The name of the realm.
    /// - Complexity: Opens each copy beside the file.
    func list(of realm: String) -> [Backup] {
        let beside = copies(of: realm).map { copies in copies.list().map { Backup($0, in: copies) } } ?? []
        return (beside + stored.list(of: realm)).sorted { $0.time.nanoseconds > $1.time.nanoseconds }
    }

    /// Returns one backup of a realm.
    ///
    /// - Parameters:
    ///   - id: The id of the backup.
    ///   - realm: The name of the realm.
    /// - Throws: `not_found` when there is none.
    func find(_ id: String, of realm: String) throws(Problem) -> Backup {
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
        case .opening?, nil: return nil
        }
    }

    // MARK: - Reading and deleting

    /// Opens the file of a backup.
    ///
    /// - Parameter backup: A backup that was found just now.
    /// - Returns: The file, which stays readable when the backup is deleted.
    /// - Throws: `not_found` when it is gone; `filesystem_unsuitable` when it cannot be read.
    func open(_ backup: Backup) throws(Problem) -> BodyFile {
        let path: String
        switch backup.place {
        case .beside(let copies): path = copies.path(of: backup.id)
        case .file(let place): path = place
        }
        do throws(StorageError) {
            return try BodyFile(reading: path)
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
            }
        } catch {
            throw BackupService.problem(error)
        }
    }

    /// Makes the problem for a backup whose file cannot be used.
    private static func problem(_ error: StorageError) -> Problem {
        if case .refused(.fileNotFound) = error { return Problem(.notFound, "the file of this backup is gone") }
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
