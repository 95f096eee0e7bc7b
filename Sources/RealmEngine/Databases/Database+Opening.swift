// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Logging
package import RealmStorage
internal import SystemPackage

extension Database {
    /// How a file is opened.
    package struct OpenOptions: Sendable {
        /// The key of an encrypted file; nil for a plain one.
        package var key: EncryptionKey?
        /// Nil chooses: for writing where format, permissions and file system allow it, else for reading.
        package var mode: Mode?
        /// Makes an empty file if there is none.
        package var createsMissingFile = false
        /// Bounds of its writes and interactive transactions.
        package var limits = WriteLimits()
        /// Names that the configuration gives to linking objects.
        package var backlinkNames = BacklinkNames.none
        /// Bounds of what is observed.
        package var observation = ObservationLimits()
        /// No write begins while more versions than this are being read.
        package var maximumVersionCount = 1000
        /// Brings a file of an older format to the present one, after a copy was made beside it.
        package var upgradesInPlace = false
        /// When the file is rewritten without its free space while it is opened.
        package var compaction: Compaction?
        /// Whether the file is looked through before it is written to.
        package var verification = FileStore.Verification.auto
        /// How many copies of each kind are kept beside the file; see `FileCopies`. With 0 none are made.
        package var keptCopyCount = 1
        /// Whether the path is one that was resolved before: no link is followed any more.
        package var isExactPath = false
        /// Told how much is done, and asked whether it is still wanted.
        package var control: WorkControl?
        /// Where the engine logs what operators want to know; silent unless it is set. See `EngineLog`.
        package var logger = EngineLog.silent

        /// Options with which a file is opened as it is, and refused when it is missing or outdated.
        package init(key: EncryptionKey? = nil, mode: Mode? = nil) {
            self.key = key
            self.mode = mode
        }

        /// The part of the options that the storage layer knows.
        var store: FileStore.Options {
            var options = FileStore.Options()
            options.createsMissingFile = createsMissingFile
            options.maximumVersionCount = maximumVersionCount
            options.verification = verification
            options.isExactPath = isExactPath
            options.control = control
            return options
        }
    }

    /// A file is compacted when both hold.
    package struct Compaction: Sendable {
        /// The file is at least so long.
        package var minimumTotalBytes: Int
        /// At most this part of it is in use, from 0 to 1.
        package var maximumUsedRatio: Double

        /// `maximumUsedRatio` is from 0 to 1.
        package init(minimumTotalBytes: Int, maximumUsedRatio: Double) {
            self.minimumTotalBytes = minimumTotalBytes
            self.maximumUsedRatio = maximumUsedRatio
        }

        /// Whether a file with this newest version is to be compacted. Reads the list of free blocks.
        func wants(_ snapshot: Snapshot) throws(StorageError) -> Bool {
            let total = snapshot.file.fileByteCount
            guard total >= minimumTotalBytes else { return false }
            return try Double(Database.usedBytes(snapshot)) <= maximumUsedRatio * Double(total)
        }
    }

    /// Opens the file at `path`. Throws `.refused` with the reason, or what reading it met; then nothing has changed.
    package static func open(name: RealmName, path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        let log = EngineLog(options.logger, name)
        let begin = Instant.now()
        let byteCount = System.entry(atPath: path, followsLink: true)?.byteCount
        do throws(StorageError) {
            let database = try openFile(name, path, options)
            database.noteSource(path, options)
            log.opened(database.mode, database.current.snapshot, since: begin)
            if let byteCount { database.logRecovery(from: byteCount) }
            if let reason = database.readOnlyReason { log.refusesWrites(reason) }
            return database
        } catch {
            log.failedToOpen(error)
            throw error
        }
    }

    /// Logs that opening cut something off a file that had `byteCount` bytes.
    private func logRecovery(from byteCount: Int) {
        let now = current.snapshot.file.fileByteCount
        if mode == .readWrite, store != nil, now < byteCount { log.recovered(byteCount: byteCount - now) }
    }

    /// Opens the file as `options.mode` says, or the best way that is possible when it says nothing.
    private static func openFile(_ name: RealmName, _ path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        switch options.mode {
        case .readWrite: return try openForWriting(name, path, options)
        case .readOnly: return try openForReading(name, path, options, reason: nil)
        case .copy: return try openCopy(name, path, options)
        case nil:
            do throws(StorageError) {
                return try openForWriting(name, path, options)
            } catch {
                guard let reason = reasonToRead(error) else { throw error }
                return try openForReading(name, path, options, reason: reason)
            }
        }
    }

    /// Why a file that cannot be written to is served for reading; nil when it is not served at all.
    static func reasonToRead(_ error: StorageError) -> StorageError? {
        guard case .refused(let refusal) = error else { return nil }
        switch refusal {
        case .formatNotWritable, .synchronized, .unsuitable, .unsound: return error
        default: return nil
        }
    }

    /// A file that another process writes to must not be read meanwhile: what one version has is overwritten two versions later.
    private static func openForReading(
        _ name: RealmName, _ path: String, _ options: OpenOptions, reason: StorageError?
    ) throws(StorageError) -> Database {
        let place = options.isExactPath ? path : try System.resolved(path)
        let snapshot = try Snapshot(file: try RealmFile(path: place, key: options.key, isExact: true))
        try OwnershipLock.requireUnused(place)
        return Database(
            name: name, path: path, mode: .readOnly, snapshot: snapshot, store: nil, readOnlyReason: reason,
            backlinkNames: options.backlinkNames, logger: options.logger)
    }

    /// Opens a file to be written to. An upgrade makes a copy first, which goes again when opening fails.
    private static func openForWriting(
        _ name: RealmName, _ path: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        let place = options.isExactPath ? path : try System.resolved(path)
        let copies = FileCopies(ofFile: place, key: options.key)
        var store = options.store
        let original = KeptOriginal()
        if options.upgradesInPlace {
            store.converts = .olderFormats
            if options.keptCopyCount > 0 {
                let log = EngineLog(options.logger, name)
                store.willConvert = { _, format throws(StorageError) in
                    let copy = try copies.make(.upgrade(format: format), options.control)
                    log.copied(to: copy)
                    original.set(copy)
                }
            }
        }
        do throws(StorageError) {
            let database = open(name: name, store: try openStore(path, options, store), options, copies, original.name)
            if let kept = original.name { copies.prune(keeping: options.keptCopyCount, sparing: kept) }
            return database
        } catch {
            if let kept = original.name { copies.remove(kept) }
            throw error
        }
    }

    /// The name of the copy that was made before an upgrade.
    private final class KeptOriginal: Sendable {
        /// The name, set at most once.
        private let stored = RankedMutex<String?>(.leaf, nil)

        /// The name of the copy in its folder; nil as long as none was made.
        var name: String? { stored.withLock { $0 } }

        /// Notes the copy. Called by the store, on the thread that opens the file.
        func set(_ name: String) { stored.withLock { $0 = name } }
    }

    /// Opens a file, and compacts it if that is wanted.
    private static func openStore(
        _ path: String, _ options: OpenOptions, _ storeOptions: FileStore.Options
    ) throws(StorageError) -> FileStore {
        let store = try FileStore.open(path: path, key: options.key, storeOptions)
        guard let compaction = options.compaction, try compaction.wants(store.current) else { return store }
        try store.close()
        _ = try FileStore.rewrite(path: path, key: options.key, newKey: options.key, storeOptions)
        return try FileStore.open(path: path, key: options.key, storeOptions)
    }

    // MARK: - Copies

    /// A copy beside nothing of the user's: in the folder for temporary files, without a name, gone with the realm.
    private static func openCopy(
        _ name: RealmName, _ path: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        var storeOptions = options.store
        storeOptions.converts = [.olderFormats, .synchronized]
        // Whatever refuses the file is found before a copy is made.
        _ = try Snapshot(file: try RealmFile(path: path, key: options.key, isExact: options.isExactPath))
        var file = try NewFile(beside: temporaryPath)
        try FileCopy.copyQuietMoment(of: path, to: file, options.control, isExact: options.isExactPath)
        var store = try FileStore(file, key: options.key, options: storeOptions)
        if let compaction = options.compaction, try compaction.wants(store.current) {
            let compact = try NewFile(beside: temporaryPath)
            try SnapshotCopy.write(store.current, to: compact.backend(), key: options.key, options.control)
            store = try FileStore(compact, key: options.key, options: storeOptions)
            file = compact
        }
        let database = Database(
            name: name, path: path, mode: .copy, snapshot: store.current, store: store, privateFile: file,
            limits: options.limits, backlinkNames: options.backlinkNames, observation: options.observation, logger: options.logger
        )
        database.startWriter()
        return database
    }

    /// A path in the folder for temporary files, beside which nameless files are made.
    private static var temporaryPath: String {
        System.temporaryFolder + "/realm-rest"
    }

    /// Makes the file `path`, which does not exist, a copy of `seed`; no other process ever sees a part of it. `served` is what
    /// this process serves of the seed, which may be written to meanwhile.
    ///
    /// The seed has to be a file that can be read with `key`. Nothing is made unless its copy can be, too.
    package static func plant(
        _ seed: String, served: Snapshot?, key: EncryptionKey?, at path: String, isExactPath: Bool = false,
        _ control: WorkControl? = nil
    ) throws(StorageError) {
        // Tells a wrong key before anything is copied, also for what is served with another one.
        _ = try Snapshot(file: try RealmFile(path: seed, key: key, isExact: isExactPath))
        let path = isExactPath ? path : try System.resolved(path)
        let file = try NewFile(beside: path)
        if let served, served.fileFormat == FileHeader.writtenFormat {
            try SnapshotCopy.write(served, to: file.backend(), key: key, control)
        } else {
            try FileCopy.copyQuietMoment(of: seed, to: file, control, isExact: isExactPath)
        }
        _ = try Snapshot(file: try RealmFile(path: file.openPath, key: key))
        do throws(StorageError) {
            try file.publish(as: path)
        } catch {
            // Whoever made the file just now was first.
            guard error.errno == .fileExists else { throw error }
        }
    }

    /// An empty realm in memory.
    package static func openInMemory(
        name: RealmName, identifier: String, _ options: OpenOptions = OpenOptions()
    ) throws(StorageError) -> Database {
        let store = try FileStore.inMemory(options.store)
        let database = Database(
            name: name, path: "", mode: .readWrite, snapshot: store.current, store: store, memoryIdentifier: identifier,
            limits: options.limits,
            backlinkNames: options.backlinkNames, observation: options.observation, logger: options.logger)
        database.startWriter()
        return database
    }

    /// Serves a store that was opened elsewhere.
    package static func open(
        name: RealmName, store: FileStore, _ options: OpenOptions = OpenOptions(), _ copies: FileCopies? = nil,
        _ originalName: String? = nil
    ) -> Database {
        let database = Database(
            name: name, path: store.path, mode: .readWrite, snapshot: store.current, store: store, copies: copies,
            originalName: originalName, limits: options.limits, keptCopyCount: options.keptCopyCount,
            backlinkNames: options.backlinkNames, observation: options.observation, logger: options.logger)
        database.startWriter()
        return database
    }

    // MARK: - Closing

    /// Does the writes that wait, rolls an interactive transaction back and closes the file. Blocks meanwhile, so
    /// it is for threads that may wait. Requests that hold snapshots go on.
    ///
    /// `isUndone`: nothing came of opening it, so what was made beside the file for that goes.
    package func close(isUndone: Bool = false) {
        closeWriter()
        observations.close()
        do throws(StorageError) { try store?.close(discardsLock: isUndone) } catch {}
        log.closed()
    }

    /// Does the writes that wait, and takes no more.
    func closeWriter() {
        let writer = queue.withLock { queue in
            defer { queue = nil }
            return queue
        }
        writer?.close()
    }
}
