// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization
internal import SystemPackage

/// A Realm file that is open for reading and writing, owned by this process until it is closed.
///
/// Readers take `current` and keep it as long as they need it: a snapshot pins its version. One write transaction runs at a
/// time; its commit makes the next snapshot. See `Committer` for the state of the file after a crash or a failing disk.
/// Properties may be read on any thread; writing and auditing are done by the thread of the realm's writer.
package final class FileStore: StoreWrite.Owner, Sendable {
    /// The ways in which a file can be opened.
    package struct Options: Sendable {
        package var createsMissingFile = false
        /// log2 of the size of cluster leaves; 8 in every file of an SDK.
        package var clusterShift = 8
        /// The greatest number of versions that may be in use when a write begins.
        package var maximumVersionCount = 1000
        /// The former versions that commits keep.
        package var retention = Retention.none
        /// The kinds of files that are converted to a local file of the format that is written.
        package var converts: Conversions = []
        /// Called with path and format before a file of an older format is changed in any way, so
        /// that a backup can be made; an error that it throws ends the opening.
        package var willConvert: (@Sendable (_ path: String, _ format: Int) throws(StorageError) -> Void)?
        /// Called when opening a file has failed, while this program still owns it, so that a backup can take its place again.
        package var didFail: (@Sendable () -> Void)?
        /// When the file is audited; see `SpaceAudit`.
        package var verification = Verification.auto
        /// The greatest logical size in bytes of files that are audited while they are opened.
        package var smallFileBytes = 64 << 20
        /// Gets the progress of a conversion, and can cancel it.
        package var control: WorkControl?
        /// Whether `path` was resolved before, so that symbolic links are not followed.
        package var isExactPath = false

        /// Makes options for the usual way: nothing is created or converted, and files are audited.
        package init() {}
    }

    /// The times at which a file is audited, which ensures that no write can destroy something in use; see `SpaceAudit`.
    package enum Verification: String, Sendable, CaseIterable {
        /// Small files are audited while they are opened, large ones before their first write.
        case auto
        /// No file is audited.
        case off
        /// All files are audited while they are opened.
        case always
    }

    /// The kinds of files that are rejected unless the caller allows their conversion, because
    /// programs that know them could not open the result.
    package struct Conversions: OptionSet, Sendable {
        /// The set of conversions as bits.
        package let rawValue: Int

        /// Makes a set of conversions from its bits.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Files of older formats are upgraded to 24.
        package static let olderFormats = Conversions(rawValue: 1)
        /// Files of synchronized realms, and those with histories that are unknown, become local ones. That is allowed for copies only.
        package static let foreignHistories = Conversions(rawValue: 2)
    }

    /// The path without symbolic links; empty for a realm in memory.
    package let path: String
    /// The options with which the file was opened.
    package let options: Options
    /// The file in use. It is replaced by the thread that writes, and read on any thread.
    private let opened: RankedMutex<OpenFile>
    /// The ownership of the file; nil for a realm in memory.
    private let lock: OwnershipLock?
    /// Notices changes that other programs make to the file; nil for realms in memory.
    package let witness: FileWitness?
    /// The newest version, for readers on any thread.
    private let newest: RankedMutex<Snapshot>
    /// Whether a transaction is running or the file is closed, for any thread.
    private let writing = RankedMutex(.leaf, Writing.idle)
    /// Whether the file was audited or need not be, so that it may be written to.
    private let isAudited: Atomic<Bool>
    /// The log that keeps the record of every commit.
    private let commitLog = RankedMutex<(any CommitLog)?>(.leaf, nil)
    /// Whether anything does, which is read for every commit without the lock.
    private let isLogged = Atomic(false)

    /// The file of a store at a time, which compaction replaces.
    struct OpenFile {
        /// Makes versions durable; used by the thread that writes.
        let committer: Committer
        /// The versions of the file in use, whose nodes commits must not overwrite.
        let pins: VersionPins
        /// The versions of former files that are still in use.
        var formerPins: [VersionPins] = []
    }

    /// The states of a store: nothing is written, a transaction is running, or the file is closed.
    private enum Writing { case idle, running, closed }

    /// Opens the file at `path` and takes ownership of it.
    ///
    /// - Parameters:
    ///   - path: The path; symbolic links are followed unless the options exclude them.
    ///   - key: The 64-byte key if the file is encrypted, or is to be created encrypted.
    ///   - options: Which actions are allowed: creation, conversion and audit.
    /// - Throws: `.refused` when the file is in use, missing, not a Realm file, of a format that is
    ///   not written, synchronized, or on a network file system; `.corrupt` for damage, `.io` when
    ///   a system call fails.
    package static func open(
        path: String, key: EncryptionKey? = nil, _ options: Options = Options()
    ) throws(StorageError) -> FileStore {
        let path = options.isExactPath ? path : try System.resolved(path)
        let known = try examine(path, key: key, options)
        let lock = try OwnershipLock(ofFile: path)
        NewFile.removeReplacement(of: path)
        do throws(StorageError) {
            let backend = known == nil ? try create(path, key) : try existing(path, known)
            return try FileStore(backend, path: path, key: key, options, FirstOpening.Audit(options), known, lock: lock)
        } catch {
            options.didFail?()
            lock.discard()
            throw error
        }
    }

    /// Opens the file in memory, to find out what `open` would do: it throws what `open` would
    /// throw, and changes neither the file nor its lock file.
    ///
    /// - Returns: A store whose changes stay in memory.
    package static func dryRun(
        path: String, key: EncryptionKey? = nil, _ options: Options = Options()
    ) throws(StorageError) -> FileStore {
        let path = options.isExactPath ? path : try System.resolved(path)
        let known = try examine(path, key: key, options)
        try OwnershipLock.check(ofFile: path)
        let backend: any StorageBackend =
            known == nil ? try MemoryBackend() : try ShadowBackend(path: path, writing: true, isExact: true)
        return try FileStore(backend, path: path, key: key, options, FirstOpening.Audit(options), known)
    }

    /// Opens a copy of the file at `path` in memory, to find out what could be done with a copy of it.
    ///
    /// - Parameters:
    ///   - path: The file; symbolic links are followed unless the options exclude them.
    ///   - options: The allowed conversions.
    /// - Returns: A store whose changes stay in memory.
    package static func dryRun(
        copyOf path: String, key: EncryptionKey? = nil, _ options: Options = Options()
    ) throws(StorageError) -> FileStore {
        let backend = try ShadowBackend(path: path, writing: false, isExact: options.isExactPath)
        guard backend.byteCount > 0 else { throw emptyFile }
        return try FileStore(backend, path: path, key: key, options, FirstOpening.Audit(options))
    }

    /// Opens a file that no other process can reach yet, as it has no name.
    ///
    /// - Parameters:
    ///   - options: The allowed conversions, and whether the file is audited.
    ///   - isForeign: Whether its contents were made by another program, so that it is audited like a file with a
    ///     name.
    package convenience init(
        _ file: NewFile, key: EncryptionKey?, options: Options = Options(), isForeign: Bool = false
    ) throws(StorageError) {
        try self.init(file.backend(), path: "", key: key, options, isForeign ? FirstOpening.Audit(options) : .never)
    }

    /// Makes an empty realm that lives in memory only.
    ///
    /// Everything works as with a file, but nothing outlives the process, and no other process can open it.
    package static func inMemory(_ options: Options = Options()) throws(StorageError) -> FileStore {
        try FileStore(MemoryBackend(), options: options)
    }

    /// Opens the bytes of `backend`, which must not be used otherwise. Tests use it with backends that crash or fail.
    package convenience init(
        _ backend: any StorageBackend, key: EncryptionKey? = nil, options: Options = Options()
    ) throws(StorageError) {
        try self.init(backend, path: "", key: key, options, .never)
    }

    /// Opens the bytes of a backend that was examined and locked, and runs conversions and the audit.
    private init(
        _ backend: any StorageBackend, path: String, key: EncryptionKey?, _ options: Options, _ audit: FirstOpening.Audit,
        _ known: Examined? = nil, lock: OwnershipLock? = nil
    ) throws(StorageError) {
        let (data, findings) = try FirstOpening.open(
            backend, key: key, converting: options.converts, audit, options.control, after: known?.findings
        ) {
            format throws(StorageError) in try options.willConvert?(path, format)
        }
        let header = try data.plain.header()
        let pins = VersionPins()
        let file = RealmFile(path: path, header: header, plain: data.plain, fileByteCount: backend.byteCount)
        let version = try Snapshot.version(of: file)
        let snapshot = try Snapshot(
            file: file, clusterShift: options.clusterShift, previous: nil, pin: pins.pin(version))
        witness = try FileStore.witness(of: data, path, lock)
        opened = RankedMutex(
            .leaf,
            OpenFile(
                committer: try Committer(data, snapshot, pins: pins, witness: witness, retention: options.retention), pins: pins))
        newest = RankedMutex(.leaf, snapshot)
        isAudited = Atomic(findings.isChecked)
        self.path = path
        self.options = options
        self.lock = lock
        if header.isOutdated { try FormatUpgrade.run(self, options.control) }
    }

    // MARK: - Files

    /// Makes the witness for a file at its state after the first opening; nil for backends that are not files.
    private static func witness(
        of data: DataFile, _ path: String, _ lock: OwnershipLock?
    ) throws(StorageError) -> FileWitness? {
        guard let backend = data.backend as? FileBackend, !path.isEmpty else { return nil }
        return FileWitness(path: path, try backend.facts(), try data.mappedHead(), backend.loss, lock: lock)
    }

    /// A file that was examined before it is owned.
    private struct Examined {
        /// The identity of the file; nil when the system does not report it.
        let identity: System.FileIdentity?
        let findings: FirstOpening.Findings
    }

    /// Examines a file before its lock file is made and anything in it is changed: it throws the errors of opening. That includes
    /// the audit, as a refused file must stay as it is, with everything next to it.
    ///
    /// - Returns: The findings; nil when there is no file and one will be created.
    private static func examine(
        _ path: String, key: EncryptionKey?, _ options: Options
    ) throws(StorageError) -> Examined? {
        guard System.entry(atPath: path) != nil else {
            guard options.createsMissingFile else { throw .refused(.fileNotFound) }
            return nil
        }
        let backend = try ShadowBackend(path: path, writing: true, isExact: true)
        try requireLocal(backend.file)
        guard backend.byteCount > 0 || options.createsMissingFile else { throw emptyFile }
        let opened: (data: DataFile, findings: FirstOpening.Findings)
        do throws(StorageError) {
            opened = try FirstOpening.open(
                backend, key: key, converting: options.converts, FirstOpening.Audit(options), options.control)
        } catch {
            // A file that another program is writing looks damaged.
            if case .refused(.unsound) = error { try OwnershipLock.requireUnused(path) }
            throw error
        }
        let data = opened.data
        let file = RealmFile(path: path, header: try data.plain.header(), plain: data.plain, fileByteCount: backend.byteCount)
        _ = try Snapshot(file: file, clusterShift: options.clusterShift)
        try requireOneName(backend.file)
        return Examined(identity: backend.identity, findings: opened.findings)
    }

    /// Throws `.refused(.unsuitable)` for a file that cannot be owned: it has several names, or is on a network file system.
    ///
    /// - Parameter path: The path of the file without symbolic links.
    package static func requireOwnable(_ path: String) throws(StorageError) {
        let descriptor = try System.openRegular(path, writing: true, isExact: true)
        defer { System.close(descriptor) }
        try requireLocal(descriptor)
        try requireOneName(descriptor)
    }

    /// Throws `.refused(.unsuitable)` for a file with several names.
    private static func requireOneName(_ descriptor: Int32) throws(StorageError) {
        guard let count = System.entry(descriptor)?.linkCount, count > 1 else { return }
        throw .refused(.unsuitable("the file has \(count) names: under another one it could be changed at the same time"))
    }

    /// The error for a file of 0 bytes. Such a file is not opened as an empty database, because it may be an interrupted copy.
    private static var emptyFile: StorageError {
        .refused(.notARealm("a file of 0 bytes is no Realm file; it may be an interrupted copy"))
    }

    /// Opens the file that was examined, and throws `.refused(.fileInUse)` when another one has taken its place.
    private static func existing(_ path: String, _ known: Examined?) throws(StorageError) -> FileBackend {
        let descriptor = try System.openRegular(path, writing: true, isExact: true)
        guard System.identity(descriptor) == known?.identity else {
            System.close(descriptor)
            throw .refused(.fileInUse("the file was replaced while it was being opened"))
        }
        return try FileBackend(descriptor: descriptor)
    }

    /// Creates an encrypted or plain file with an empty realm. It gets its name only after its header is complete.
    private static func create(_ path: String, _ key: EncryptionKey?) throws(StorageError) -> FileBackend {
        let file = try NewFile(nextTo: path)
        try requireLocal(file.descriptor)
        let backend = try file.backend()
        try EmptyFile.write(backend, key)
        do throws(StorageError) {
            try file.publish(as: path)
        } catch {
            guard error.errno == .fileExists else { throw error }
            throw .refused(.fileInUse("another program made the file in that moment"))
        }
        return backend
    }

    /// Throws `.refused(.unsuitable)` for a file on a network file system, where locks and mappings cannot be relied on.
    private static func requireLocal(_ descriptor: Int32) throws(StorageError) {
        let remote: Set<ByteText> = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "coda", "fuse.sshfs"]
        guard let type = System.fileSystemType(descriptor), remote.contains(type) else { return }
        throw .refused(.unsuitable("the file is on a network file system (\(type)), where it cannot be owned safely"))
    }

    // MARK: - Versions

    /// The newest version. Holding it keeps its nodes in the file.
    package var current: Snapshot { newest.withLock { $0 } }
    /// How many versions are being read, the newest included, and those of former files too.
    package var liveVersionCount: Int {
        let file = openFile
        return file.formerPins.reduce(file.pins.count) { $0 + $1.count }
    }
    /// The oldest version of the present file that is in use, also after it was closed.
    package var oldestLiveVersion: UInt64? { openFile.pins.oldest }
    /// The versions of the present file that are in use. They say so also when the store is gone.
    package var livePins: VersionPins { openFile.pins }
    /// Since when the oldest version in use that is not the newest has been kept; nil when there is none.
    package var oldestLiveSince: Instant? {
        let file = openFile
        for pins in file.formerPins { if let since = pins.oldestPinned { return since } }
        return file.pins.oldestSince
    }
    /// The versions before the newest one that can be read.
    package var formerVersions: FormerVersions { openFile.committer.former }

    /// Returns a version before the newest one, which is kept as long as the result; nil when it is not there any more.
    ///
    /// - Throws: `.corrupt` when it cannot be read.
    package func formerSnapshot(_ version: UInt64) throws(StorageError) -> Snapshot? {
        let file = openFile
        return try file.committer.former.snapshot(version, file.pins)
    }

    /// How many former files are still being read.
    package var formerFileCount: Int { openFile.formerPins.count { $0.count > 0 } }
    /// The file in use at present.
    var openFile: OpenFile { opened.withLock { $0 } }
    /// Makes the newest version durable; used by the thread that writes.
    private var committer: Committer { openFile.committer }
    package var isEncrypted: Bool { current.file.isEncrypted }
    /// Whether this process still owns the file.
    package var isOpen: Bool { writing.withLock { $0 != .closed } }
    /// Whether commits are possible: false after a failed sync, or when the file is closed.
    package var acceptsWrites: Bool { !committer.data.isUncertain && writing.withLock { $0 != .closed } }

    // MARK: - Records

    /// The log that keeps the record of every commit; nil without one.
    var log: (any CommitLog)? { isLogged.load(ordering: .acquiring) ? commitLog.withLock { $0 } : nil }

    /// Sets what keeps the record of every commit that begins from here on.
    ///
    /// - Parameter log: Keeps records; nil for none.
    /// - Throws: `.refused(.unsuitable)` for an encrypted file when the log would store plain records.
    package func setLog(_ log: (any CommitLog)?) throws(StorageError) {
        if let log, !log.isEncrypted { try BaseCopy.requireShippable(current.file) }
        let before = commitLog.withLock { kept in
            defer { kept = log }
            return kept
        }
        isLogged.store(log != nil, ordering: .releasing)
        withExtendedLifetime(before) {}
    }

    // MARK: - Writing

    /// Whether the file has to be audited before the first write.
    package var awaitsAudit: Bool { !isAudited.load(ordering: .acquiring) }

    /// Audits the file, so that it can be written to. Called by the thread that writes.
    ///
    /// - Parameter continues: Called every few thousand nodes; false ends the audit without a result.
    /// - Throws: `.refused(.unsound)` when the file must not be written to.
    package func audit(_ continues: () -> Bool) throws(StorageError) {
        guard awaitsAudit else { return }
        let snapshot = current
        var audit = try SpaceAudit(snapshot.top, snapshot.space)
        if try audit.run(continues) { isAudited.store(true, ordering: .releasing) }
    }

    /// Begins the one write transaction that may run at a time.
    ///
    /// - Parameter arena: Memory for its nodes; nil takes that of an earlier transaction, or new one.
    /// - Throws: `.refused` when too many versions are in use, an earlier write failed, the file
    ///   has to be audited first, is closed, or another transaction is running.
    package func beginWrite(arena: NodeArena? = nil) throws(StorageError) -> StoreWrite {
        let versionCount = liveVersionCount
        guard versionCount <= options.maximumVersionCount else { throw .refused(.tooManyVersions(versionCount)) }
        guard !committer.data.isUncertain else { throw .refused(.writesStopped) }
        guard !awaitsAudit else { throw .refused(.notWritable("the file has not been audited yet")) }
        let memory = if let arena { arena } else { try SpareArenas.take() }
        try takeTurn()
        return StoreWrite(self, base: current, arena: memory)
    }

    /// Begins to write, as one thread at a time does.
    func takeTurn() throws(StorageError) {
        let before = writing.withLock { state in
            defer { if state == .idle { state = .running } }
            return state
        }
        guard before == .idle else {
            throw .refused(.notWritable(before == .closed ? "the file is closed" : "another write transaction is running"))
        }
    }

    /// Ends what `takeTurn` has begun.
    func endTurn() { writing.withLock { if $0 == .running { $0 = .idle } } }

    /// Closes the file without waiting; it throws while a transaction is running.
    ///
    /// Snapshots can still be read, but the file does not belong to this process any more, so
    /// another program may change what they read. Release them before.
    ///
    /// - Parameter discardsLock: Whether the lock file is removed, because the opening failed and
    ///   had made it.
    /// - Throws: `.refused(.notWritable)` while a write transaction is running.
    package func close(discardsLock: Bool = false) throws(StorageError) {
        let isIdle = writing.withLock { state in
            if state == .idle { state = .closed }
            return state != .running
        }
        guard isIdle else { throw .refused(.notWritable("a write transaction is running")) }
        // Whatever this leaves undone, the log of the file has.
        if !committer.data.isUncertain { try? committer.settle() }
        committer.data.backend.close()
        if discardsLock { lock?.discard() } else { lock?.release() }
    }

    /// Makes the next version durable, and makes it the newest one for readers; see `StoreWrite.Owner`.
    func commit(_ write: StoreWrite, names: Ref, tables: Ref, notes: CommitNotes) throws(StorageError) -> Snapshot {
        let logging = log.map { Committer.Logging(log: $0, notes: notes) }
        let snapshot = try committer.commit(
            write.nodes, names: names, tables: tables, previous: write.base, logging: logging)
        publish(snapshot)
        return snapshot
    }

    /// Whether others may write the realm too; see `CommitLog`.
    package var isShared: Bool { log?.isShared ?? false }

    /// Makes sure that the newest version was the newest of all when this was called; see `CommitLog`.
    package func confirm() throws(StorageError) { try log?.confirm() }

    /// Makes a version the newest one for readers.
    func publish(_ snapshot: Snapshot) {
        // If the former version has no reader, it is released after the lock.
        let before = newest.withLock { newest in
            defer { newest = snapshot }
            return newest
        }
        withExtendedLifetime(before) {}
    }

    /// Makes another file the one in use, with its newest version; called by the thread that writes.
    func use(_ committer: Committer, _ pins: VersionPins, _ snapshot: Snapshot) {
        let before = opened.withLock { file in
            let before = file
            file = OpenFile(
                committer: committer, pins: pins, formerPins: (before.formerPins + [before.pins]).filter { $0.count > 0 })
            return before
        }
        isAudited.store(true, ordering: .releasing)
        publish(snapshot)
        before.committer.data.backend.close()
    }

    /// Ends a transaction, and keeps its memory for later ones; see `StoreWrite.Owner`.
    func endWrite(_ arena: NodeArena) {
        SpareArenas.give(arena)
        endTurn()
    }
}

/// The start of transactions that know tables and objects.
extension FileStore {
    /// Begins the one write transaction that may run at a time.
    ///
    /// - Parameter arena: Memory for its nodes; nil takes that of the last transaction.
    /// - Throws: `.refused` as `beginWrite` does, `.corrupt` when the list of tables is damaged.
    package func beginTransaction(arena: NodeArena? = nil) throws(StorageError) -> WriteTransaction {
        try WriteTransaction(beginWrite(arena: arena))
    }
}
