// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import SystemPackage

/// A Realm file that is open for reading and writing, owned by this process until it is closed.
///
/// Readers take `current` and keep it as long as they like: a snapshot pins its version. One write transaction runs at a
/// time; its commit makes the next snapshot. See `Committer` for what a crash or a failing disk leaves behind.
package final class FileStore: WriteOwner, Sendable {
    /// How a file is opened.
    package struct Options: Sendable {
        /// Makes the file if there is none.
        package var createsMissingFile = false
        /// log2 of the size of cluster leaves; 8 in every file of an SDK.
        package var clusterShift = 8
        /// No write begins while more versions than this are being read.
        package var maximumVersionCount = 1000
        /// What may be turned into a local file of the format that is written.
        package var converts: Conversions = []
        /// Called with path and format before a file of an older format is changed in any way: the moment for a copy.
        package var willConvert: (@Sendable (_ path: String, _ format: Int) throws(StorageError) -> Void)?
        /// Whether the file is looked through before it is written to.
        package var verification = Verification.auto
        /// Files up to here are looked through while they are opened.
        package var smallFileBytes = 64 << 20
        /// Told how much of a conversion is done, and asked whether it is still wanted.
        package var control: WorkControl?
        /// Whether the path is one that was resolved before: no link is followed any more.
        package var isExactPath = false

        /// The usual way: nothing is made, converted or left unchecked.
        package init() {}
    }

    /// When it is made sure that no write can land on something in use; see `SpaceAudit`.
    package enum Verification: String, Sendable, CaseIterable {
        /// Small files while they are opened, large ones before their first write.
        case auto
        /// Never.
        case off
        /// All files while they are opened.
        case always
    }

    /// Files that are otherwise refused, because programs that know them would no longer open what becomes of them.
    package struct Conversions: OptionSet, Sendable {
        /// The conversions as bits.
        package let rawValue: Int

        /// Conversions from their bits.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Formats 20 to 23 are upgraded.
        package static let olderFormats = Conversions(rawValue: 1)
        /// Files of synchronised realms become local ones: for copies only.
        package static let synchronized = Conversions(rawValue: 2)
    }

    /// Without symbolic links; empty for a realm in memory.
    package let path: String
    /// How the file was opened.
    package let options: Options
    /// Makes versions durable; used by the thread that writes.
    private let committer: Committer
    /// The versions that are being read.
    private let pins: VersionPins
    /// The ownership of the file; nil for a realm in memory.
    private let lock: OwnershipLock?
    /// Notices what others do to the file; nil for realms in memory.
    package var witness: FileWitness? { committer.witness }
    /// The newest version, for any thread.
    private let newest: RankedMutex<Snapshot>
    /// Whether a transaction runs, for any thread.
    private let writing = RankedMutex(.leaf, Writing.idle)
    /// Whether nothing forbids the first write.
    private let isAudited: Atomic<Bool>
    /// The memory of the last write, for the next one.
    private let spareArena = RankedMutex<NodeArena?>(.leaf, nil)

    /// Nothing is written, a transaction runs, or the file is closed.
    private enum Writing { case idle, running, closed }

    /// Opens the file at `path`, with the 64-byte `key` if it is, or is going to be, encrypted.
    ///
    /// Throws `.refused` when the file is in use, missing, no Realm file, of a format that is not written, synchronised,
    /// or on a network file system.
    package static func open(
        path: String, key: EncryptionKey? = nil, _ options: Options = Options()
    ) throws(StorageError) -> FileStore {
        let path = options.isExactPath ? path : try System.resolved(path)
        let known = try examine(path, key: key, options)
        let lock = try OwnershipLock(ofFile: path)
        do throws(StorageError) {
            let backend = known == nil ? try create(path, key) : try existing(path, known)
            return try FileStore(backend, path: path, key: key, options, lock: lock)
        } catch {
            lock.discard()
            throw error
        }
    }

    /// What `open` would do, in memory: throws what it would throw, and changes nothing, neither file nor lock file.
    package static func rehearse(
        path: String, key: EncryptionKey? = nil, _ options: Options = Options()
    ) throws(StorageError) -> FileStore {
        let path = options.isExactPath ? path : try System.resolved(path)
        guard try examine(path, key: key, options) != nil else {
            try OwnershipLock.check(ofFile: path)
            return try FileStore(MemoryBackend(), path: path, key: key, options, lock: nil)
        }
        try OwnershipLock.check(ofFile: path)
        return try FileStore(ShadowBackend(path: path, writing: true, isExact: true), path: path, key: key, options, lock: nil)
    }

    /// What would become of a copy of the file at `path`, in memory. `path` may have links unless the options say otherwise.
    package static func rehearse(
        copyOf path: String, key: EncryptionKey? = nil, _ options: Options = Options()
    ) throws(StorageError) -> FileStore {
        let backend = try ShadowBackend(path: path, writing: false, isExact: options.isExactPath)
        guard backend.byteCount > 0 else { throw emptyFile }
        return try FileStore(backend, path: path, key: key, options, lock: nil)
    }

    /// A file that only this process can reach yet.
    package convenience init(
        _ file: NewFile, key: EncryptionKey?, options: Options = Options()
    ) throws(StorageError) {
        try self.init(file.backend(), path: "", key: key, options, lock: nil)
    }

    /// An empty realm that lives in memory only.
    ///
    /// Everything works as with a file, but nothing outlives the process, and no other process can open it.
    package static func inMemory(_ options: Options = Options()) throws(StorageError) -> FileStore {
        try FileStore(MemoryBackend(), options: options)
    }

    /// The bytes of `backend`, which is not used otherwise.
    package convenience init(
        _ backend: any StorageBackend, key: EncryptionKey? = nil, options: Options = Options()
    ) throws(StorageError) {
        try self.init(backend, path: "", key: key, options, lock: nil)
    }

    /// Opens what the backend shows, after it was looked at and locked.
    private init(
        _ backend: any StorageBackend, path: String, key: EncryptionKey?, _ options: Options, lock: OwnershipLock?
    ) throws(StorageError) {
        // Files without a path are those of tests and realms in memory.
        let (data, isChecked) = try FirstOpening.open(
            backend, key: key, converting: options.converts, path.isEmpty ? .never : FirstOpening.Audit(options)
        ) {
            format throws(StorageError) in try options.willConvert?(path, format)
        }
        let header = try data.plain.header()
        let pins = VersionPins()
        let file = RealmFile(path: path, header: header, plain: data.plain, fileByteCount: backend.byteCount)
        let version = try Snapshot.version(of: file)
        let snapshot = try Snapshot(
            file: file, clusterShift: options.clusterShift, previous: nil, pin: pins.pin(version))
        committer = try Committer(data, snapshot, pins: pins, witness: FileStore.witness(of: data, path, lock))
        newest = RankedMutex(.leaf, snapshot)
        isAudited = Atomic(isChecked)
        self.path = path
        self.options = options
        self.pins = pins
        self.lock = lock
        if header.isOutdated { try FormatUpgrade.run(self, options.control) }
    }

    // MARK: - Files

    /// Watches over what the first opening has left.
    private static func witness(
        of data: DataFile, _ path: String, _ lock: OwnershipLock?
    ) throws(StorageError) -> FileWitness? {
        guard let backend = data.backend as? FileBackend, !path.isEmpty else { return nil }
        return FileWitness(path: path, try backend.facts(), try data.mappedHead(), backend.loss, lock: lock)
    }

    /// Looks at a file before its lock file is made and anything in it is changed: throws what opening it would throw.
    ///
    /// Returns nil when there is none and one is going to be made.
    private static func examine(
        _ path: String, key: EncryptionKey?, _ options: Options
    ) throws(StorageError) -> System.FileIdentity? {
        guard System.entry(atPath: path) != nil else {
            guard options.createsMissingFile else { throw .refused(.fileNotFound) }
            return nil
        }
        let backend = try ShadowBackend(path: path, writing: true, isExact: true)
        try requireLocal(backend.file)
        guard backend.byteCount > 0 || options.createsMissingFile else { throw emptyFile }
        let data = try FirstOpening.open(backend, key: key, converting: options.converts).data
        let file = RealmFile(path: path, header: try data.plain.header(), plain: data.plain, fileByteCount: backend.byteCount)
        _ = try Snapshot(file: file, clusterShift: options.clusterShift)
        if let count = System.entry(backend.file)?.linkCount, count > 1 {
            throw .refused(.unsuitable("the file has \(count) names: under another one it could be changed at the same time"))
        }
        return backend.identity
    }

    /// An interrupted copy must not look like an empty database.
    private static var emptyFile: StorageError { .refused(.notARealm("a file of 0 bytes is no Realm file")) }

    /// Opens the file that was looked at.
    private static func existing(_ path: String, _ known: System.FileIdentity?) throws(StorageError) -> FileBackend {
        let descriptor = try System.openRegular(path, writing: true, isExact: true)
        guard System.identity(descriptor) == known else {
            System.close(descriptor)
            throw .refused(.fileInUse("the file was replaced while it was being opened"))
        }
        return try FileBackend(descriptor: descriptor)
    }

    /// Nobody sees the file before its header is in it.
    private static func create(_ path: String, _ key: EncryptionKey?) throws(StorageError) -> FileBackend {
        let file = try NewFile(beside: path)
        try requireLocal(file.descriptor)
        let backend = try file.backend()
        try FirstOpening.writeEmpty(backend, key)
        do throws(StorageError) {
            try file.publish(as: path)
        } catch {
            guard error.errno == .fileExists else { throw error }
            throw .refused(.fileInUse("another program made the file in that moment"))
        }
        return backend
    }

    /// Locks and mappings are not to be relied on across a network.
    private static func requireLocal(_ descriptor: Int32) throws(StorageError) {
        let remote: Set<String> = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "coda", "fuse.sshfs"]
        guard let type = System.fileSystemType(descriptor), remote.contains(type) else { return }
        throw .refused(.unsuitable("the file is on a network file system (\(type)), where it cannot be owned safely"))
    }

    // MARK: - Versions

    /// The newest version.
    package var current: Snapshot { newest.withLock { $0 } }
    /// How many versions are being read, the newest included.
    package var liveVersionCount: Int { pins.count }
    /// Since when a version that is not the newest any more is being read.
    package var oldestLiveSince: Instant? { pins.oldestSince }
    /// Whether the file is encrypted.
    package var isEncrypted: Bool { current.file.isEncrypted }
    /// Whether this process still owns the file.
    package var isOpen: Bool { writing.withLock { $0 != .closed } }
    /// Whether commits go on; false after a failed sync.
    package var acceptsWrites: Bool { !committer.data.isUncertain && writing.withLock { $0 != .closed } }

    // MARK: - Writing

    /// Whether the file has to be looked through before the first write.
    package var awaitsAudit: Bool { !isAudited.load(ordering: .acquiring) }

    /// Looks the file through, so that it can be written to. Throws `.refused(.unsound)` when it must not be; it is not
    /// then, or when `goesOn` says so. For the thread that writes.
    package func audit(_ goesOn: () -> Bool) throws(StorageError) {
        guard awaitsAudit else { return }
        let snapshot = current
        var audit = try SpaceAudit(snapshot.top, snapshot.space)
        if try audit.run(goesOn) { isAudited.store(true, ordering: .releasing) }
    }

    /// Begins the one write transaction that may run at a time. Without `arena` the memory of the last one is used again.
    package func beginWrite(arena: NodeArena? = nil) throws(StorageError) -> StoreWrite {
        guard pins.count <= options.maximumVersionCount else { throw .refused(.tooManyVersions(pins.count)) }
        guard !committer.data.isUncertain else { throw .refused(.writesStopped) }
        guard !awaitsAudit else { throw .refused(.notWritable("the file was not looked through yet")) }
        let arena = if let arena = arena ?? takeSpareArena() { arena } else { try NodeArena() }
        let before = writing.withLock { state in
            defer { if state == .idle { state = .running } }
            return state
        }
        guard before == .idle else {
            throw .refused(.notWritable(before == .closed ? "the file is closed" : "another write transaction is running"))
        }
        return StoreWrite(self, base: current, arena: arena)
    }

    /// Waits for nothing: throws while a transaction runs. Snapshots can be read on, but the file no longer belongs to
    /// this process, so let go of them first.
    ///
    /// `discardsLock`: nothing came of the opening, so what was made for it goes.
    package func close(discardsLock: Bool = false) throws(StorageError) {
        let isIdle = writing.withLock { state in
            if state == .idle { state = .closed }
            return state != .running
        }
        guard isIdle else { throw .refused(.notWritable("a write transaction is running")) }
        committer.data.backend.close()
        if discardsLock { lock?.discard() } else { lock?.release() }
    }

    /// See `WriteOwner`.
    func commit(_ nodes: WriteSpace, names: Ref, tables: Ref, base: Snapshot) throws(StorageError) -> Snapshot {
        let snapshot = try committer.commit(nodes, names: names, tables: tables, previous: base)
        // The version before is freed, if it has no reader, after the lock is open again.
        let before = newest.withLock { newest in
            defer { newest = snapshot }
            return newest
        }
        withExtendedLifetime(before) {}
        return snapshot
    }

    /// See `WriteOwner`.
    func endWrite(_ arena: NodeArena) {
        let before = spareArena.withLock { spare in
            defer { spare = arena }
            return spare
        }
        withExtendedLifetime(before) {}
        writing.withLock { $0 = .idle }
    }

    /// The spare memory, unless a caller still holds what a transaction had in it.
    private func takeSpareArena() -> NodeArena? {
        spareArena.withLock { spare in
            defer { spare = nil }
            return isKnownUniquelyReferenced(&spare) ? spare : nil
        }
    }
}
