// SPDX-License-Identifier: Apache-2.0

internal import Logging
package import RealmStorage
internal import Synchronization

/// One open Realm file, or one realm in memory, under the name it is served by.
///
/// Readers take `current` once and keep it for the whole request: a snapshot never changes and needs no lock. Writes go
/// through one queue; see `Database+Writing`.
///
/// Threads: everything here may be called from any thread. `open` and `close` wait for files and for the writer, so they belong
/// on a thread that may wait; all other calls return at once.
///
/// Locks: each mutex here is a leaf. None is held while the file is read or written, or while a completion or an observer is
/// called.
package final class Database: VersionSource {
    /// How the file may be used.
    package enum Mode: String, Sendable {
        /// The file is read and written.
        case readWrite = "rw"
        /// The file is only read.
        case readOnly = "ro"
        /// A private copy; the original is never touched.
        case copy
    }

    /// The name that it is served by.
    package let name: RealmName
    /// Where operators read about this realm.
    let log: EngineLog
    /// Empty for a realm in memory.
    package let path: String
    /// How the file was opened; writes may be refused later all the same, see `isWritable`.
    package let mode: Mode
    /// The file, whatever its path; nil for realms in memory and private copies.
    let identity: System.FileIdentity?
    /// The name of this opening: another one whenever the file is opened again.
    package let epoch: Epoch
    /// The identifier of a realm in memory.
    package let memoryIdentifier: String?
    /// Bounds of writes and interactive transactions.
    package let limits: WriteLimits
    /// Names that the configuration gives to linking objects; checked by the code that opens the database.
    package let backlinkNames: BacklinkNames
    /// Asynchronous writes.
    package let asyncWrites: AsyncWrites
    /// The version that `current` gives out.
    let newest: RankedMutex<Version>
    /// Nil when nothing can be written.
    let store: FileStore?
    /// The writer; nil when nothing can be written, or not any more.
    let queue = RankedMutex<WriteQueue?>(.leaf, nil)
    /// How the writer was used.
    package let writeFigures = WriteFigures()
    /// Told of every commit.
    package let commits = CommitFeed()
    /// Follows observed targets from version to version.
    package let observations: ObservationHub
    /// The file of a private copy, which goes with the realm.
    private let privateFile: NewFile?
    /// Copies of the file that were made beside it; nil when there are none, and never will be.
    package let copies: FileCopies?
    /// How many copies of each kind are kept beside the file.
    let keptCopyCount: Int
    /// The copy that was made before the file was upgraded while it was opened.
    package let originalName: String?
    /// A copy that was made by a write which is not committed yet.
    let pendingCopy = RankedMutex<String?>(.leaf, nil)
    /// Whether the file is still what was opened.
    package let health: FileHealth
    /// Why the file is only read, when it was to be written; guards `isBanned` as well.
    private let ban: RankedMutex<StorageError?>
    /// Whether writes are refused since the file was found to be unsound; asked with every write.
    private let isBanned = Atomic<Bool>(false)
    /// The file and how it was opened; nil when it cannot be opened again from that.
    private let opening = RankedMutex<Source?>(.leaf, nil)

    /// A file and how it was opened.
    struct Source: Sendable {
        /// The path as it was given.
        let path: String
        /// What it was opened with.
        let options: OpenOptions
    }

    /// From what the realm can be opened again; nil when it cannot.
    var source: Source? { opening.withLock { $0 } }

    /// Notes from what the realm was opened.
    func noteSource(_ path: String, _ options: OpenOptions) { opening.withLock { $0 = Source(path: path, options: options) } }

    /// Opens `path` for reading.
    package convenience init(
        name: RealmName, path: String, key: EncryptionKey? = nil, backlinkNames: BacklinkNames = .none
    ) throws(StorageError) {
        let snapshot = try Snapshot(file: try RealmFile(path: path, key: key))
        self.init(name: name, path: path, mode: .readOnly, snapshot: snapshot, store: nil, backlinkNames: backlinkNames)
    }

    /// Makes a database over a snapshot, and a store when it can be written. `startWriter` has to be called before the first
    /// write.
    init(
        name: RealmName, path: String, mode: Mode, snapshot: Snapshot, store: FileStore?, memoryIdentifier: String? = nil,
        privateFile: NewFile? = nil, copies: FileCopies? = nil, originalName: String? = nil, readOnlyReason: StorageError? = nil,
        limits: WriteLimits = WriteLimits(), keptCopyCount: Int = 1, backlinkNames: BacklinkNames,
        observation: ObservationLimits = ObservationLimits(), logger: Logger = EngineLog.silent
    ) {
        let epoch = Epoch()
        let log = EngineLog(logger, name)
        self.name = name
        self.log = log
        self.path = path
        self.mode = mode
        identity = mode == .copy || path.isEmpty ? nil : System.identity(path: path)
        self.epoch = epoch
        self.store = store
        self.memoryIdentifier = memoryIdentifier
        self.privateFile = privateFile
        self.copies = copies
        self.originalName = originalName
        ban = RankedMutex(.leaf, readOnlyReason)
        self.keptCopyCount = keptCopyCount
        health = FileHealth(store?.witness ?? snapshot.file.witness)
        self.limits = limits
        self.backlinkNames = backlinkNames
        asyncWrites = AsyncWrites(limits)
        observations = ObservationHub(
            commits, name: name.text, backlinkNames: backlinkNames, limits: observation,
            didEvaluate: { begin in log.noteEvaluation(since: begin) })
        newest = RankedMutex(.leaf, Version(snapshot, VersionToken(epoch: epoch, version: snapshot.version)))
        observations.serve(self)
    }

    /// The newest version.
    package var current: Version { newest.withLock { $0 } }

    /// Whether writes are taken; this may end while the realm is open.
    package var isWritable: Bool { mode != .readOnly && !isBanned.load(ordering: .acquiring) }

    /// Why the file is only read although writing was not ruled out; nil where it is written, or was to be read only.
    package var readOnlyReason: StorageError? { ban.withLock { $0 } }

    /// From now on the file is only read.
    func refuseWrites(_ reason: StorageError) {
        ban.withLock { $0 = reason }
        isBanned.store(true, ordering: .releasing)
        log.refusesWrites(reason)
    }
}

extension Database {
    /// Counted when asked for; reads the list of free blocks.
    package func facts(of version: Version) throws(StorageError) -> DatabaseFacts {
        let snapshot = version.snapshot
        let classes = snapshot.classes
        return DatabaseFacts(
            isEncrypted: snapshot.file.isEncrypted,
            fileFormat: snapshot.fileFormat == 0 ? FileHeader.writtenFormat : snapshot.fileFormat,
            schemaVersion: snapshot.schemaVersion,
            fileBytes: snapshot.file.fileByteCount, usedBytes: try Database.usedBytes(snapshot), classCount: classes.count,
            isEmpty: classes.allSatisfy { $0.count == 0 }, liveVersions: liveVersions, pendingWrites: pendingWrites)
    }

    /// How many versions are being read.
    package var liveVersions: Int { max(1, store?.liveVersionCount ?? 1) }

    /// How long ago the oldest version was made that is still being read and is not the newest; zero when there is none.
    package var oldestPinned: Duration { store?.oldestLiveSince.map { Instant.now().duration(since: $0) } ?? .zero }

    /// The bytes of the file that hold something; nil when the list of free blocks cannot be read.
    package var usedBytes: Int? { try? Database.usedBytes(current.snapshot) }

    /// The logical size less the free blocks in it.
    static func usedBytes(_ snapshot: Snapshot) throws(StorageError) -> Int {
        let size = Int(clamping: snapshot.top.logicalSize)
        guard !snapshot.top.freeLengths.isNone else { return size }
        let lengths = try snapshot.space.node(at: snapshot.top.freeLengths).integers()
        var free = 0
        for index in 0..<lengths.count { free = min(size, free + Int(clamping: max(0, min(lengths[index], Int64(size))))) }
        return size - free
    }
}
