// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Logging
package import RealmLegacy
package import RealmPlatform
package import RealmStorage
internal import SystemPackage

extension Database {
    /// Options for opening a file.
    package struct OpenOptions: Sendable {
        /// The key of an encrypted file; nil for a plain one.
        package var key: EncryptionKey?
        /// The mode of use. With nil the file is opened for writing where its format, permissions and file system allow it,
        /// otherwise for reading.
        package var mode: Mode?
        /// Whether an empty file is made if there is none.
        package var createsMissingFile = false
        /// The limits of writes and interactive transactions.
        package var limits = WriteLimits()
        /// The names that the configuration gives to linking objects.
        package var backlinkNames = BacklinkNames.none
        /// The limits of observations.
        package var observation = ObservationLimits()
        /// The number of versions in use above which no write begins.
        package var maximumVersionCount = 1000
        /// The former versions that commits keep.
        package var retention = Retention.none
        /// Whether a file of an older format is upgraded in place, after a copy was made next to it.
        package var upgradesInPlace = false
        /// When opening rewrites the file without its free space; nil for never.
        package var compaction: Compaction?
        /// When the file is compacted while it is served; nil for never.
        package var autoCompaction: Compaction?
        /// The classes whose objects may only be written by requests that state a condition.
        package var conditionalClasses: Set<ByteText> = []
        /// The classes that are shown; nil for all classes of the file.
        package var shownClasses: ShownClasses?
        /// The values of properties that creates leave out.
        package var defaults = ClassDefaults.none
        /// Whether the whole file is checked before it is written to.
        package var verification = FileStore.Verification.auto
        /// The number of copies of each kind to keep next to the file; see `FileCopies`. With 0 none are made.
        package var keptCopyCount = 1
        /// The time between two looks at a file that is followed; nil for the usual one.
        package var followInterval: Duration?
        /// Whether a file is refused that lacks what the options name. An attach request checks that itself, after
        /// it has brought the schema to what was requested.
        package var requiresNames = true
        /// Whether the path was resolved before, so that no symbolic link is followed.
        package var isExactPath = false
        /// Receives the progress of opening, and states whether it was cancelled.
        package var control: WorkControl?
        /// The logger of the engine, which is silent by default; see `EngineLog`.
        package var logger = EngineLog.silent
        /// Called with the realm when it is open, before anything can be written to it; it must not wait.
        package var didOpen: (@Sendable (Database) -> Void)?
        /// The epoch that the opening continues, because clients saw only versions that the log has; nil for a new one.
        package var epoch: Epoch?
        /// Opens the file as a cache of a log on other servers; nil for a file that is the realm itself.
        package var replication: (any RealmReplication)?
        /// Whether the file has taken the place of the one before, so that the log of the realm begins anew with it.
        package var beginsHistory = false
        /// The state when the realm was closed, if its file is still the same; nil for a new opening.
        package var former: ClosedRealm.Former?

        /// Makes options with which a file is opened as it is, and rejected when it is missing or of an older format.
        ///
        /// - Parameters:
        ///   - key: The key of an encrypted file; nil for a plain one.
        ///   - mode: The mode of use; with nil the file decides.
        package init(key: EncryptionKey? = nil, mode: Mode? = nil) {
            self.key = key
            self.mode = mode
        }

        /// The part of the options that the storage layer uses.
        var store: FileStore.Options {
            var options = FileStore.Options()
            options.createsMissingFile = createsMissingFile
            options.maximumVersionCount = maximumVersionCount
            options.retention = retention
            options.verification = verification
            options.isExactPath = isExactPath
            options.control = control
            return options
        }
    }

    /// The conditions for compacting a file during opening. Both must be met.
    package struct Compaction: Sendable, Equatable {
        /// The smallest length of the file in bytes.
        package var minimumTotalBytes: Int
        /// The largest part of the file that is in use, from 0 to 1.
        package var maximumUsedRatio: Double

        /// Makes the conditions; `maximumUsedRatio` is from 0 to 1.
        package init(minimumTotalBytes: Int, maximumUsedRatio: Double) {
            self.minimumTotalBytes = minimumTotalBytes
            self.maximumUsedRatio = maximumUsedRatio
        }

        /// Returns whether a file is to be compacted.
        ///
        /// - Parameter snapshot: The newest version of the file.
        /// - Throws: `StorageError` when the list of free blocks cannot be read.
        func wants(_ snapshot: Snapshot) throws(StorageError) -> Bool {
            let total = snapshot.file.fileByteCount
            guard total >= minimumTotalBytes else { return false }
            return try Double(Database.usedBytes(snapshot)) <= maximumUsedRatio * Double(total)
        }
    }

    /// Opens a file, and logs the result.
    ///
    /// Blocks until the file is opened, which may include an upgrade, a check or a compaction.
    ///
    /// - Parameters:
    ///   - name: The name under which the realm is served.
    ///   - path: The file.
    /// - Throws: `StorageError`: `.refused` with the reason, or the error of reading the file. Nothing
    ///   has changed then. Options that name what the file does not have are refused.
    package static func open(name: RealmName, path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        if let replication = options.replication, options.mode == nil || options.mode == .readWrite {
            var options = options
            options.replication = nil
            return try replication.open(name, path: path, options)
        }
        let log = EngineLog(options.logger, name)
        let begin = Instant.now()
        let byteCount = System.entry(atPath: path, followsLink: true)?.byteCount
        do throws(StorageError) {
            try requireNames(path, options)
            let database = try openFile(name, path, options)
            database.noteSource(path, options)
            options.didOpen?(database)
            log.opened(database.mode, database.current.snapshot, since: begin)
            if let byteCount { database.logRecovery(from: byteCount) }
            if let reason = database.readOnlyReason { log.refusesWrites(reason) }
            return database
        } catch {
            log.failedToOpen(error)
            throw error
        }
    }

    /// Logs that opening removed the remains of an interrupted commit, for a file that had `byteCount` bytes before.
    private func logRecovery(from byteCount: Int) {
        let now = current.snapshot.file.fileByteCount
        if mode == .readWrite, store != nil, now < byteCount { log.recovered(byteCount: byteCount - now) }
    }

    /// Opens a file in the requested mode; without one for writing, and otherwise for reading.
    private static func openFile(_ name: RealmName, _ path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        switch options.mode {
        case .readWrite: return try openForWriting(name, path, options)
        case .readOnly: return try openForReading(name, path, options, reason: nil)
        case .copy: return try openCopy(name, path, options)
        case .follow: return try openFollowing(name, path, options)
        case nil:
            do throws(StorageError) {
                return try openForWriting(name, path, options)
            } catch {
                guard let reason = reasonToRead(error) else { throw error }
                if case .refused(.formatNotWritable(let found)) = error, LegacyFile.reads(format: found) {
                    return try openCopy(name, path, options)
                }
                return try openForReading(name, path, options, reason: reason)
            }
        }
    }

    /// Returns the reason for serving a file for reading after opening it for writing has failed.
    ///
    /// - Parameter error: The error of opening it for writing.
    /// - Returns: The same error; nil when the file cannot be served at all.
    static func reasonToRead(_ error: StorageError) -> StorageError? {
        guard case .refused(let refusal) = error else { return nil }
        switch refusal {
        case .formatNotWritable, .synchronized, .unsuitable, .unsound: return error
        default: return nil
        }
    }

    /// Opens a file for reading. It must not be open for writing in another process, which would overwrite the nodes of a
    /// version two versions later.
    private static func openForReading(
        _ name: RealmName, _ path: String, _ options: OpenOptions, reason: StorageError?
    ) throws(StorageError) -> Database {
        let place = options.isExactPath ? path : try System.resolved(path)
        let (snapshot, conversion) = try readable(place, options)
        var reading: ReadingLock?
        if conversion == nil {
            reading = snapshot.file.witness.flatMap { ReadingLock(path: place, of: $0.identity) }
            try OwnershipLock.requireUnused(place)
        }
        let database = Database(
            name: name, path: path, mode: .readOnly, snapshot: snapshot, store: nil, readOnlyReason: reason,
            backlinkNames: options.backlinkNames, shownClasses: options.shownClasses, logger: options.logger,
            former: options.former, conversion: conversion)
        database.reading.withLock { $0 = reading }
        return database
    }

    /// Opens the newest version of a file of any format for reading.
    ///
    /// A file of formats 2 to 9 is converted first; the version is that of a private copy.
    ///
    /// - Parameters:
    ///   - place: The path of the file without symbolic links.
    ///   - options: Its key, and what gets the progress.
    /// - Returns: The version, and the report of the conversion; nil for a file that was not converted.
    static func readable(
        _ place: String, _ options: OpenOptions
    ) throws(StorageError) -> (snapshot: Snapshot, conversion: ConversionReport?) {
        if let converted = try ConvertedFile.open(path: place, key: options.key, isExact: true, options.control) {
            return (try converted.snapshot(key: options.key), converted.report)
        }
        return (try Snapshot(file: try RealmFile(path: place, key: options.key, isExact: true)), nil)
    }

    /// Opens a file for writing. An upgrade makes a copy first, which takes the place of the file again when opening fails: at that
    /// moment the file may have left streaming form, or be longer.
    private static func openForWriting(
        _ name: RealmName, _ path: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        let place = options.isExactPath ? path : try System.resolved(path)
        let copies = FileCopies(ofFile: place, key: options.key)
        copies.removeSecondName()
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
                store.didFail = { if let copy = original.name { copies.putBack(copy) } }
            }
        }
        // A file that was converted is not what it was any more, so its copy stays whatever happens then.
        let (conversion, copy) = try convertOld(place, options, copies, log: EngineLog(options.logger, name))
        let database = open(
            name: name, store: try openStore(path, options, store), options, copies: copies,
            originalName: copy ?? original.name, conversion: conversion)
        if let kept = database.originalName { copies.prune(keeping: options.keptCopyCount, sparing: kept) }
        return database
    }

    /// Replaces a file of formats 2 to 9 by one of the present format, if the options say so; a copy is made before. At every moment
    /// there is the old file or the new one at the path, whole.
    ///
    /// - Parameters:
    ///   - place: The path of the file without symbolic links.
    ///   - options: Its key, and how many copies are kept.
    ///   - copies: The copies next to it.
    ///   - log: Records the copy.
    /// - Returns: The report of the conversion and the name of the copy; nil for a file of another format, or no file.
    /// - Throws: `.refused(.formatNotWritable)` for such a file that is not to be upgraded. The copy is removed unless the new file may
    ///   have its name already.
    private static func convertOld(
        _ place: String, _ options: OpenOptions, _ copies: FileCopies, log: EngineLog
    ) throws(StorageError) -> (conversion: ConversionReport?, copy: String?) {
        guard try oldFormat(of: place, options) != nil else { return (nil, nil) }
        let lock = try OwnershipLock(ofFile: place)
        let identity = System.identity(path: place)
        var copy: String?
        do throws(StorageError) {
            // Another program may have changed it until the lock was taken.
            guard let file = try LegacyFile.open(path: place, key: options.key, isExact: true) else {
                lock.release()
                return (nil, nil)
            }
            if options.keptCopyCount > 0 {
                copy = try copies.make(.upgrade(format: file.format), options.control)
                log.copied(to: copy ?? "")
            }
            // A kept conversion is not used: it may be damaged, and nothing but the copy is left of the file afterwards.
            let report = try file.convert(toFile: place, key: options.key, replacing: true, options.control)
            lock.release()
            return (report, copy)
        } catch {
            // After a failed sync of the folder the new file may have the name.
            if let copy, System.identity(path: place) == identity { copies.remove(copy) }
            lock.discard()
            throw error
        }
    }

    /// Returns the format of a file of formats 2 to 9; nil for a file of another format, and when there is none.
    ///
    /// - Throws: `.refused(.formatNotWritable)` for such a file unless the options have it upgraded, the reason why that is not possible,
    ///   and the error of reading its schema.
    static func oldFormat(of place: String, _ options: OpenOptions) throws(StorageError) -> Int? {
        guard let file = try LegacyFile.open(path: place, key: options.key, isExact: true, countsRows: false) else { return nil }
        guard options.upgradesInPlace else { throw .refused(.formatNotWritable(found: file.format)) }
        if let hindrance = FileOutlook.hindrance(toUpgrading: file, at: place) { throw hindrance }
        return file.format
    }

    /// Holds the name of the copy that was made before an upgrade.
    final class KeptOriginal: Sendable {
        /// The name, which is set at most once.
        private let stored = RankedMutex<String?>(.leaf, nil)

        /// The name of the copy in its folder; nil if none was made.
        var name: String? { stored.withLock { $0 } }

        /// Sets the name. The store calls this on the thread that opens the file.
        func set(_ name: String) { stored.withLock { $0 = name } }
    }

    /// Opens a file, and compacts it if the options require it.
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

    /// Opens a private copy of a file. The copy is a file without a name in the folder for temporary files, which disappears
    /// with the realm.
    private static func openCopy(
        _ name: RealmName, _ path: String, _ options: OpenOptions, hasPath: Bool = true
    ) throws(StorageError) -> Database {
        var storeOptions = options.store
        storeOptions.converts = [.olderFormats, .foreignHistories]
        let converted = try ConvertedFile.open(path: path, key: options.key, isExact: options.isExactPath, options.control)
        var (file, isOutdated) = try privateFile(path, converted, options)
        let upgrade = isOutdated ? try upgradeReport(of: file.openPath, options.key) : nil
        let report = converted?.report ?? upgrade
        var store = try FileStore(file, key: options.key, options: storeOptions, isForeign: converted == nil)
        if let compaction = options.compaction, try compaction.wants(store.current) {
            let compact = try NewFile(nextTo: temporaryPath)
            try SnapshotCopy.write(store.current, to: compact.backend(), key: options.key, options.control)
            store = try FileStore(compact, key: options.key, options: storeOptions)
            file = compact
        }
        let database = Database(
            name: name, path: hasPath ? path : "", mode: .copy, snapshot: store.current, store: store, privateFile: file,
            limits: options.limits, backlinkNames: options.backlinkNames,
            shownClasses: options.shownClasses, observation: options.observation, logger: options.logger,
            conversion: report)
        database.startWriter()
        return database
    }

    /// Returns the report of the upgrade that opening a private copy makes; nil for a file that is not upgraded.
    ///
    /// - Parameters:
    ///   - path: A file of format 10 or later.
    ///   - key: Its key; nil for a plain file.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    static func upgradeReport(
        of path: String, _ key: EncryptionKey?, isExact: Bool = false
    ) throws(StorageError) -> ConversionReport? {
        let file = try RealmFile(path: path, key: key, isExact: isExact)
        guard file.header.isOutdated else { return nil }
        return ConversionReport(upgrading: try Snapshot(file: file))
    }

    /// Makes the file of a private copy.
    ///
    /// - Parameters:
    ///   - path: The file that is copied.
    ///   - converted: Its conversion; nil for a file that is copied as it is.
    ///   - options: The key of the file, and what can cancel the work.
    /// - Returns: The file, and whether opening it upgrades it.
    private static func privateFile(
        _ path: String, _ converted: ConvertedFile?, _ options: OpenOptions
    ) throws(StorageError) -> (file: NewFile, isOutdated: Bool) {
        if let file = converted?.file { return (file, false) }
        var isOutdated = false
        if converted == nil {
            // Errors of the file itself are found before a copy is made.
            let source = try Snapshot(file: try RealmFile(path: path, key: options.key, isExact: options.isExactPath))
            isOutdated = source.file.header.isOutdated
        }
        let file = try NewFile(nextTo: temporaryPath)
        try FileCopy.copyConsistently(
            of: converted?.path ?? path, to: file, options.control, isExact: converted == nil && options.isExactPath)
        return (file, isOutdated)
    }

    /// Opens a private copy of a file that will be gone later, such as one that a client has sent. The realm has no path then, and is
    /// never opened again.
    ///
    /// - Parameters:
    ///   - name: The name under which the realm is served.
    ///   - path: The path by which the file can be opened now.
    ///   - options: The key of the file, the limits and the names to use.
    package static func openUnnamed(
        name: RealmName, path: String, _ options: OpenOptions = OpenOptions()
    ) throws(StorageError) -> Database {
        let log = EngineLog(options.logger, name)
        let begin = Instant.now()
        do throws(StorageError) {
            let database = try openCopy(name, path, options, hasPath: false)
            log.opened(database.mode, database.current.snapshot, since: begin)
            return database
        } catch {
            log.failedToOpen(error)
            throw error
        }
    }

    /// The path next to which unnamed files are made for private copies.
    package static var temporaryPath: String {
        System.temporaryFolder + "/realm-rest"
    }

    /// Makes a new file at `path` as a copy of `seed`. No other process ever sees a part of it.
    ///
    /// The copy is verified to be readable before it gets its name. A file that another process has made
    /// at `path` meanwhile remains.
    ///
    /// - Parameters:
    ///   - seed: The file to copy, which must be readable with `key`.
    ///   - served: The newest version of the seed if this process serves it, because it may be written to
    ///     meanwhile.
    ///   - key: The key of the seed and of the copy; nil for plain files.
    ///   - path: The path of the new file.
    ///   - isExactPath: Whether no symbolic link is followed.
    ///   - control: States whether copying was cancelled.
    package static func plant(
        _ seed: String, served: Snapshot?, key: EncryptionKey?, at path: String, isExactPath: Bool = false,
        _ control: WorkControl? = nil
    ) throws(StorageError) {
        let path = isExactPath ? path : try System.resolved(path)
        let file = try NewFile(nextTo: path)
        if let old = try LegacyFile.open(path: isExactPath ? seed : try System.resolved(seed), key: key, isExact: true) {
            _ = try old.convert(to: file, key: key, control)
            return try publish(file, as: path)
        }
        // Detects a wrong key before anything is copied, even if the seed is served with another one.
        _ = try Snapshot(file: try RealmFile(path: seed, key: key, isExact: isExactPath))
        if let served, served.fileFormat == FileHeader.writtenFormat {
            try SnapshotCopy.write(served, to: file.backend(), key: key, control)
        } else {
            try FileCopy.copyConsistently(of: seed, to: file, control, isExact: isExactPath)
        }
        _ = try Snapshot(file: try RealmFile(path: file.openPath, key: key))
        try publish(file, as: path)
    }

    /// Gives a planted file its name, unless there is a file at the path by now.
    private static func publish(_ file: NewFile, as path: String) throws(StorageError) {
        do throws(StorageError) {
            try file.publish(as: path)
        } catch {
            // The process that made the file meanwhile was first.
            guard error.errno == .fileExists else { throw error }
        }
    }

    /// Makes an empty realm in memory.
    ///
    /// - Parameters:
    ///   - name: The name under which the realm is served.
    ///   - identifier: The identifier by which other names can share the data.
    ///   - options: The limits and names to use.
    package static func openInMemory(
        name: RealmName, identifier: String, _ options: OpenOptions = OpenOptions()
    ) throws(StorageError) -> Database {
        let store = try FileStore.inMemory(options.store)
        let database = Database(
            name: name, path: "", mode: .readWrite, snapshot: store.current, store: store, memoryIdentifier: identifier,
            limits: options.limits,
            backlinkNames: options.backlinkNames,
            shownClasses: options.shownClasses, observation: options.observation, logger: options.logger)
        database.setDefaults(options.defaults)
        database.startWriter()
        return database
    }

    /// Makes a database for a store that is already open.
    ///
    /// - Parameters:
    ///   - name: The name under which the realm is served.
    ///   - store: The store, which the database closes.
    ///   - options: The limits and names to use.
    ///   - copies: The copies next to the file; nil if none are made.
    ///   - originalName: The name of the copy that was made before an upgrade.
    ///   - conversion: The report of a conversion from formats 2 to 9.
    package static func open(
        name: RealmName, store: FileStore, _ options: OpenOptions = OpenOptions(), copies: FileCopies? = nil,
        originalName: String? = nil, conversion: ConversionReport? = nil
    ) -> Database {
        let database = Database(
            name: name, path: store.path, mode: .readWrite, snapshot: store.current, store: store, copies: copies,
            originalName: originalName, limits: options.limits, keptCopyCount: options.keptCopyCount,
            backlinkNames: options.backlinkNames, shownClasses: options.shownClasses, observation: options.observation,
            logger: options.logger, former: options.former, epoch: options.epoch, conversion: conversion)
        database.startWriter()
        return database
    }

    // MARK: - Closing

    /// Finishes waiting writes, rolls back an interactive transaction and closes the file.
    ///
    /// Blocks meanwhile, so it belongs on a thread that may wait. Requests that hold snapshots continue.
    ///
    /// - Parameter isUndone: Whether the realm was opened in vain, so that the lock file that was made
    ///   for it is removed.
    package func close(isUndone: Bool = false) {
        closeWriter()
        keptVersions.withLock { $0 }?.stop()
        follower.withLock { $0 }?.stop()
        closeObservations()
        let read = reading.withLock { reading in
            defer { reading = nil }
            return reading
        }
        withExtendedLifetime(read) {}
        do throws(StorageError) { try store?.close(discardsLock: isUndone) } catch {}
        closing.take()?()
        log.closed()
    }

    /// Finishes waiting writes, and rejects new ones.
    func closeWriter() {
        let writer = queue.withLock { queue in
            defer { queue = nil }
            return queue
        }
        writer?.close()
    }
}
