// SPDX-License-Identifier: Apache-2.0

package import RealmCalls
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Puts a Realm file in the place of a realm's file, as a new epoch of the realm.
///
/// It is made for one `POST …/restore`. The file is verified before anything is changed. Then the realm is
/// closed, the new file takes the name of the old one, and the realm is opened again. The old file is kept
/// as a backup. Everything here waits for files, so it belongs on a worker.
package struct RealmRestore: Sendable {
    private let target: Catalog.Target
    /// The condition under which the file is replaced.
    private let condition: WriteCondition
    /// The realms of the server, one of which gets another file.
    private let directory: RealmDirectory
    /// The new file, in the folder of the old one.
    private let replacement: FileReplacement
    /// Cancels everything before the exchange of the files.
    private let control: WorkControl
    /// The options of the realm, with which the new file is checked.
    private var options: Database.OpenOptions {
        var options = target.options
        options.control = control
        return options
    }

    /// Prepares a restore.
    ///
    /// - Parameters:
    ///   - admitted: The realm for which the request was admitted; nil for one that was not open. Its body may have taken long, and
    ///     another realm may have the name by now.
    ///   - condition: The condition of the request, which is compared now and once more after the last write.
    ///   - directory: The realms of the server.
    ///   - control: Cancels everything before `run`.
    /// - Throws: `realm_not_found` where another realm has the name, `realm_unavailable` while the realm is being opened,
    ///   `not_owned` for a realm that does not own its file, `read_only` for one that was attached for reading only,
    ///   `precondition_failed`, `encryption_key_required` or `encryption_key_wrong` for one that has failed because its key is
    ///   unknown.
    package init(
        _ name: String, admitted: Database?, if condition: WriteCondition, _ directory: RealmDirectory, _ control: WorkControl
    ) throws(Problem) {
        if case .opening? = directory.catalog[name] { throw Problem(.realmUnavailable, "the realm is being opened") }
        guard let target = directory.catalog.target(name) else {
            throw Problem(.notOwned, "this realm has no file to restore into")
        }
        if let admitted, let database = target.database, database !== admitted {
            throw Problem(.realmNotFound, "the realm was detached or replaced since the request was sent")
        }
        guard target.options.mode != .readOnly else {
            throw Problem(.readOnly, "this realm is served for reading only")
                .with(header: HeaderField("Allow", "OPTIONS"))
        }
        self.target = target
        self.condition = condition
        self.directory = directory
        self.control = control
        try condition.require(target.database?.current.token)
        do throws(StorageError) {
            // A file whose key is unknown is not damaged, and could not be put back under a wrong one.
            if target.database == nil { try Database.requireKnownKey(ofFile: target.path, target.options.key) }
            replacement = try FileReplacement(of: target.path, target.copies)
        } catch {
            throw Problem(opening: error)
        }
    }

    // MARK: - The new file

    /// The number of bytes that are copied at a time.
    private static let pieceByteCount = 1 << 20

    /// Copies a file into the new one.
    ///
    /// - Parameter source: The file that is restored.
    /// - Throws: `insufficient_storage` and other problems of the disk.
    package func fill(from source: ImportSource) throws(Problem) {
        do throws(StorageError) {
            try System.requireRoom(source.byteCount, for: replacement.file.descriptor)
        } catch {
            throw Problem(opening: error)
        }
        var offset = 0
        while offset < source.byteCount {
            let bytes = Array(try source.read(at: offset, byteCount: RealmRestore.pieceByteCount))
            guard !bytes.isEmpty else { throw Problem(.fileChanged, "the file became shorter while it was copied") }
            do throws(StorageError) {
                try control.check()
                try ByteView.withBytes(of: bytes) { view throws(StorageError) in
                    try System.write(replacement.file.descriptor, view, at: offset)
                }
            } catch {
                throw Problem(opening: error)
            }
            offset += bytes.count
        }
    }

    /// Checks the new file as a whole, and that it fits the options of the realm.
    ///
    /// - Throws: The problem of the new file: `not_a_realm`, `encryption_key_wrong`, `file_corrupt`,
    ///   `invalid_schema` and so on.
    package func verify() throws(Problem) {
        do throws(StorageError) {
            let snapshot = try Database.requireReplacement(replacement.file.openPath, options)
            try target.options.requireNames(in: snapshot)
        } catch {
            throw Problem(opening: error)
        }
    }

    // MARK: - Trying

    /// The number of times that a dry run checks whether the file of a failed realm is in use, with 10 ms in between: the server
    /// itself may be trying to open it.
    private static let looks = 50

    /// Returns the document that the realm would have, with the id of the backup that its file would become.
    ///
    /// - Parameter call: The call; the document has the part that its sender may see.
    /// - Throws: `file_in_use` when another program has the file open, and other problems of the exchange.
    package func dryRun(for call: Call) throws(Problem) -> OutputBuffer {
        let (database, name): (Database, String?)
        do throws(StorageError) {
            try requireUnused()
            let isReplaced = System.entry(atPath: target.path, followsLink: false) != nil
            name = isReplaced ? try target.copies.nameIfReplaced(version: target.version) : nil
            database = try Database.dryRun(
                replacement: replacement.file.openPath, of: target.name, at: target.sourcePath, options)
        } catch {
            throw Problem(opening: error)
        }
        defer { database.close() }
        return try directory.document(target.name.text, .ready(database), for: call, backup: name)
    }

    /// Throws unless the exchange would get the lock of the file. A realm that is written to has it already.
    private func requireUnused() throws(StorageError) {
        guard target.database?.isWritable != true else { return }
        for _ in 1..<RealmRestore.looks {
            if (try? OwnershipLock.requireUnused(target.path)) != nil { return }
            System.pause(milliseconds: 10)
        }
        try OwnershipLock.requireUnused(target.path)
    }

    // MARK: - Running

    /// Puts the new file, which was verified, in its place.
    ///
    /// Waiting writes are completed first; an interactive transaction is rolled back. The restore continues without its client from here.
    ///
    /// - Returns: The id of the backup that the old file has become; nil when there was no file.
    /// - Throws: The problem of the file system. The realm is then served as before. `realm_not_found` when the realm was detached.
    package func run() throws(Problem) -> String? {
        try Problem.stored(control.check())
        guard takeOutOfService() else { throw directory.detached(target.name.text) }
        let transaction = target.database?.openTransaction
        if let database = target.database {
            close(database)
            do throws(Problem) {
                try condition.require(database.current.token)
            } catch {
                // A write that was waiting has come first.
                serveAgain()
                throw error
            }
        }
        let (name, database): (String?, Database)
        do throws(StorageError) {
            name = try replacement.swap(keeping: target.version)
            database = try open(undoing: name)
            if let transaction { database.rememberExpired(transaction) }
        } catch {
            serveAgain()
            if error == WorkControl.stopped { throw directory.detached(target.name.text) }
            throw Problem(opening: error)
        }
        guard directory.catalog.endReplacing(target, .success(database)) else { throw directory.detached(target.name.text) }
        if let name { target.copies.prune(keeping: max(1, target.options.keptCopyCount), sparing: name) }
        return name
    }

    /// The number of times that a failed realm is asked for while it is being closed, with 10 ms in between.
    private static let attempts = 500

    /// Takes the realm out of service; false when its state has changed in the meantime.
    private func takeOutOfService() -> Bool {
        for _ in 0..<RealmRestore.attempts {
            if directory.catalog.beginReplacing(target) { return true }
            guard target.database == nil else { return false }
            System.pause(milliseconds: 10)
        }
        return false
    }

    /// Ends all uses of the realm, and closes it. Clients of streams may return: they restart under the next epoch.
    private func close(_ database: Database) {
        let problem = Problem(.realmUnavailable, "another file is being restored")
        directory.pinned.free(database)
        directory.notifications.close(database, failing: problem)
        database.setDiscarded()
        database.close()
        // A client may have subscribed between the first call and the closing.
        directory.notifications.close(database, failing: problem)
    }

    /// Opens the new file. If that fails, the old one is put back.
    private func open(undoing name: String?) throws(StorageError) -> Database {
        do throws(StorageError) {
            return try directory.catalog.reopen(target, isReplaced: true)
        } catch {
            try replacement.undo(name)
            throw error
        }
    }

    /// Opens the old file again after a failure, or leaves that to the supervisor.
    private func serveAgain() {
        do throws(StorageError) {
            directory.catalog.endReplacing(target, .success(try directory.catalog.reopen(target, isReplaced: false)))
        } catch {
            directory.catalog.endReplacing(target, .failure(error))
        }
    }
}
