// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage

extension Database {
    /// How a file is opened.
    package struct OpenOptions: Sendable {
        package var key: EncryptionKey?
        /// Nil chooses: for writing where format, permissions and file system allow it, else for reading.
        package var mode: Mode?
        /// Makes an empty file if there is none.
        package var createsMissingFile = false
        package var limits = WriteLimits()
        package var backlinkNames = BacklinkNames.none
        package var observation = ObservationLimits()
        /// No write begins while more versions than this are being read.
        package var maximumVersionCount = 1000
        /// Brings a file of an older format to the present one, after a copy was made beside it.
        package var upgradesInPlace = false
        /// When the file is rewritten without its free space while it is opened.
        package var compaction: Compaction?
        /// Whether the file is looked through before it is written to.
        package var verification = FileStore.Verification.auto
        /// Told how much of an upgrade is done, from 0 to 1.
        package var didProceed: @Sendable (Double) -> Void = { _ in }

        package init(key: EncryptionKey? = nil, mode: Mode? = nil) {
            self.key = key
            self.mode = mode
        }

        var store: FileStore.Options {
            var options = FileStore.Options()
            options.createsMissingFile = createsMissingFile
            options.maximumVersionCount = maximumVersionCount
            options.conversionDidProceed = didProceed
            options.verification = verification
            return options
        }
    }

    /// A file is compacted when both hold.
    package struct Compaction: Sendable {
        /// The file is at least so long.
        package var minimumTotalBytes: Int
        /// At most this part of it is in use, from 0 to 1.
        package var maximumUsedRatio: Double

        package init(minimumTotalBytes: Int, maximumUsedRatio: Double) {
            self.minimumTotalBytes = minimumTotalBytes
            self.maximumUsedRatio = maximumUsedRatio
        }

        func wants(_ snapshot: Snapshot) throws(StorageError) -> Bool {
            let total = snapshot.file.fileByteCount
            guard total >= minimumTotalBytes else { return false }
            return try Double(Database.usedBytes(snapshot)) <= maximumUsedRatio * Double(total)
        }
    }

    /// Opens the file at `path`. Throws `.refused` with the reason, or what reading it met.
    package static func open(name: RealmName, path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        let database = try openFile(name, path, options)
        database.noteSource(path, options)
        return database
    }

    private static func openFile(_ name: RealmName, _ path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        switch options.mode {
        case .readWrite: return try openForWriting(name, path, options)
        case .readOnly: return try Database(name: name, path: path, key: options.key, backlinkNames: options.backlinkNames)
        case .copy: return try openCopy(name, path, options)
        case nil:
            do throws(StorageError) {
                return try openForWriting(name, path, options)
            } catch {
                guard case .refused(let refusal) = error else { throw error }
                switch refusal {
                case .formatNotWritable, .synchronized, .unsuitable, .unsound:
                    let database = try Database(name: name, path: path, key: options.key, backlinkNames: options.backlinkNames)
                    database.refuseWrites(error)
                    return database
                default: throw error
                }
            }
        }
    }

    private static func openForWriting(
        _ name: RealmName, _ path: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        var store = options.store
        if options.upgradesInPlace {
            store.converts = .olderFormats
            store.willConvert = { path, format throws(StorageError) in try Database.keepOriginal(path, format) }
        }
        return open(name: name, store: try openStore(path, options, store), options)
    }

    /// Opens a file, and compacts it if that is wanted.
    private static func openStore(
        _ path: String, _ options: OpenOptions, _ storeOptions: FileStore.Options
    ) throws(StorageError) -> FileStore {
        let store = try FileStore.open(path: path, key: options.key, storeOptions)
        guard let compaction = options.compaction, try compaction.wants(store.current) else { return store }
        try store.close()
        _ = try FileStore.rewrite(path: path, key: options.key, newKey: options.key)
        return try FileStore.open(path: path, key: options.key, storeOptions)
    }

    /// Copies a file of an older format to `<path>.v<format>.backup`. A copy of that name stays; the new one gets a number.
    private static func keepOriginal(_ path: String, _ format: Int) throws(StorageError) {
        let wanted = "\(path).v\(format).backup"
        var target = wanted
        var number = 1
        while RealmFiles.exists(target) {
            number += 1
            target = "\(wanted)-\(number)"
        }
        try FileCopy.copy(path, to: target)
        try System.syncFolder(of: target)
    }

    /// A copy beside nothing of the user's: in the folder for temporary files, gone when the realm is closed.
    private static func openCopy(
        _ name: RealmName, _ path: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let copy = "\(folder)/realm-rest-\(RandomName.make()).realm"
        try FileCopy.copyQuietMoment(of: path, to: copy)
        do throws(StorageError) {
            var storeOptions = options.store
            storeOptions.createsMissingFile = false
            storeOptions.converts = [.olderFormats, .synchronized]
            let store = try openStore(copy, options, storeOptions)
            let database = Database(
                name: name, path: path, mode: .copy, snapshot: store.current, store: store, temporaryPath: copy,
                limits: options.limits,
            backlinkNames: options.backlinkNames, observation: options.observation)
            database.startWriter()
            return database
        } catch {
            for suffix in ["", ".lock"] { FileCopy.remove(copy + suffix) }
            throw error
        }
    }

    /// Makes the file `path`, which does not exist, a copy of `seed`; nobody ever sees a part of it. `served` is what
    /// this process serves of the seed, which may be written to meanwhile.
    package static func plant(
        _ seed: String, served: Snapshot?, key: EncryptionKey?, at path: String
    ) throws(StorageError) {
        let path = try System.resolved(path)
        if let served, served.fileFormat == FileHeader.writtenFormat {
            return try SnapshotCopy.write(served, toFile: path, key: key)
        }
        let part = "\(path).seed-\(RandomName.make())"
        try FileCopy.copyQuietMoment(of: seed, to: part)
        let code = link(part, path) == 0 ? 0 : errno
        FileCopy.remove(part)
        // Whoever made the file just now was first.
        guard code == 0 || code == EEXIST else { throw .io(operation: "link", errno: code) }
        try System.syncFolder(of: path)
    }

    /// An empty realm in memory.
    package static func openInMemory(
        name: RealmName, identifier: String, _ options: OpenOptions = OpenOptions()
    ) throws(StorageError) -> Database {
        let store = try FileStore.inMemory(options.store)
        let database = Database(
            name: name, path: "", mode: .readWrite, snapshot: store.current, store: store, memoryIdentifier: identifier,
            limits: options.limits,
            backlinkNames: options.backlinkNames, observation: options.observation)
        database.startWriter()
        return database
    }

    /// Serves a store that was opened elsewhere.
    package static func open(
        name: RealmName, store: FileStore, _ options: OpenOptions = OpenOptions()
    ) -> Database {
        let database = Database(
            name: name, path: store.path, mode: .readWrite, snapshot: store.current, store: store, limits: options.limits,
            backlinkNames: options.backlinkNames, observation: options.observation)
        database.startWriter()
        return database
    }

    // MARK: - Closing

    /// Does the writes that wait, rolls an interactive transaction back and lets go of the file. Blocks meanwhile, so
    /// it is for threads that may wait. Requests that hold snapshots go on.
    package func close() {
        let writer = queue.withLock { queue in
            defer { queue = nil }
            return queue
        }
        writer?.close()
        observations.close()
        do throws(StorageError) { try store?.close() } catch {}
        if let temporaryPath {
            for suffix in ["", ".lock"] { FileCopy.remove(temporaryPath + suffix) }
        }
    }

    /// Deletes a closed realm's file and what belongs to it, except the lock file. Throws `.refused(.fileInUse)` when
    /// somebody else has it open by now.
    package func deleteFiles() throws(StorageError) {
        guard !path.isEmpty else { return }
        let lock = try OwnershipLock(ofFile: path)
        for suffix in ["", ".note", ".log", ".log_a", ".log_b", ".backup-log", ".tmp_compaction_space"] {
            FileCopy.remove(path + suffix)
        }
        rmdir(path + ".management")
        lock.release()
    }
}

/// Copies of files.
package enum FileCopy {
    /// Copies a file that nobody writes to meanwhile to one that must not exist, and makes it durable.
    package static func copy(_ source: String, to target: String) throws(StorageError) {
        let input = try System.openForReading(source)
        defer { System.close(input) }
        var left = try System.regularFileSize(input)
        let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw .io(operation: "open", errno: errno) }
        defer { System.close(output) }
        while left > 0 {
            let count = sendfile(output, input, nil, min(left, 1 << 30))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : EIO
                remove(target)
                throw .io(operation: "sendfile", errno: code)
            }
            left -= count
        }
        guard fsync(output) == 0 else {
            let code = errno
            remove(target)
            throw .io(operation: "fsync", errno: code)
        }
    }

    /// Copies a file that others may write to meanwhile. A commit ends with a change of the header, and until then goes to
    /// free space only: what was copied between two equal headers is one version.
    static func copyQuietMoment(of source: String, to target: String) throws(StorageError) {
        for _ in 0..<20 {
            let before = try head(of: source)
            try copy(source, to: target)
            if try head(of: source) == before { return }
            remove(target)
        }
        throw .refused(.fileInUse("the file is written to all the time, so that it cannot be copied"))
    }

    /// The header, and in an encrypted file what is written whenever it changes.
    private static func head(of path: String) throws(StorageError) -> [UInt8] {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        return try System.read(descriptor, at: 0, byteCount: 8192)
    }

    package static func remove(_ path: String) { unlink(path) }
}
