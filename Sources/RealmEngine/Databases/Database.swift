// SPDX-License-Identifier: Apache-2.0

internal import Logging
package import RealmLegacy
package import RealmPlatform
package import RealmStorage
internal import Synchronization

/// One open Realm file, or one realm in memory, under the name it is served by.
///
/// Readers take `current` once and keep it for the whole request: a snapshot never changes and needs no lock. Writes go through
/// one queue; see `Database+Writing`. The `Catalog` of the server opens and closes databases.
///
/// Threads: all members may be used from any thread. `open` and `close` wait for files and for the
/// writer, so they belong on a thread that may wait; all other calls return at once.
///
/// Locks: each mutex here is a leaf. None is held while the file is read or written, or while a
/// completion or an observer is called.
package final class Database: VersionSource {
    /// How a file may be used.
    package enum Mode: String, Sendable {
        /// The file is read and written.
        case readWrite = "rw"
        /// The file is only read.
        case readOnly = "ro"
        /// A private copy is read and written; the original is never changed.
        case copy
        /// The file is written by another program; private copies of its versions are read.
        case follow
    }

    /// The name under which the realm is served.
    package let name: RealmName
    /// The log for operators about this realm.
    package let log: EngineLog
    /// The path of the file; empty for a realm in memory.
    package let path: String
    /// How the file was opened. Writes may be rejected later even so; see `isWritable`.
    package let mode: Mode
    /// The identity of the file, which is independent of its path; nil for realms in memory and private copies.
    package var identity: System.FileIdentity? { ownsOriginal ? health.identity : nil }
    /// Whether the file itself is read or written, and not private copies of it.
    package var ownsOriginal: Bool { mode == .readWrite || mode == .readOnly }
    /// The name of this opening, which is different whenever the file is opened again. A followed file that is put
    /// back to an earlier version begins another one.
    package var epoch: Epoch { epochInForce.withLock { $0 } }
    /// Guards `epoch`, which only the follower changes.
    let epochInForce: RankedMutex<Epoch>
    /// The identifier of a realm in memory; nil for a file.
    package let memoryIdentifier: String?
    /// The limits of writes and interactive transactions.
    package let limits: WriteLimits
    /// The names that the configuration gives to linking objects. The code that opens the database checks them.
    package let backlinkNames: BacklinkNames
    /// The asynchronous writes of this database, by the ids under which clients request their outcomes.
    package let asyncWrites: AsyncWrites
    /// The classes that are shown; nil for all classes of the file.
    package let shownClasses: ShownClasses?
    let newest: RankedMutex<Version>
    /// The store; nil when nothing can be written.
    package let store: FileStore?
    /// The writer; nil when nothing can be written, and after closing.
    let queue = RankedMutex<WriteQueue?>(.leaf, nil)
    /// The metrics of the writer: waiting times, holding times and counts of work.
    package let writeMetrics = WriteMetrics()
    /// Publishes every commit of this database to its observers, on the writer's thread.
    package let commits = EventFeed<Commit>()
    /// Advances observed targets from version to version.
    package let observations: ObservationHub
    /// The observations of listeners with restricted rights.
    private let scopedObservations: ScopedObservations
    /// The file of a private copy, which is removed with the realm; compaction replaces it.
    let privateFile: RankedMutex<NewFile?>
    /// Whether the file is being compacted, which is done once at a time.
    let isCompacting = Atomic<Bool>(false)
    /// The copies next to the file; nil when none are ever made.
    package let copies: FileCopies?
    /// The number of copies of each kind to keep next to the file.
    let keptCopyCount: Int
    /// The name of the copy that was made before the file was upgraded during opening.
    package let originalName: String?
    /// The report of the conversion, for a realm whose file has one of the formats 2 to 9, or had it until it was opened, and for
    /// a private copy of a file of an older format; nil for all others.
    package let conversion: ConversionReport?
    /// The name of a copy whose write is not committed yet.
    let pendingCopy = RankedMutex<String?>(.leaf, nil)
    /// Shows other servers that the file is served for reading; nil for all other realms, and after closing.
    let reading = RankedMutex<ReadingLock?>(.leaf, nil)
    /// Whether the file is still the one that was opened.
    package let health: FileHealth
    /// Why the file is only read although it was to be written; also guards changes of `isBanned`.
    private let ban: RankedMutex<StorageError?>
    /// Whether writes are rejected because the file was found to be damaged. It is read for every write, without the lock.
    private let isBanned = Atomic<Bool>(false)
    /// Whether the file is deleted or replaced by another one.
    private let isDiscarded = Atomic<Bool>(false)
    /// Called once when the file is closed; see `whenClosed`.
    let closing = ClosingAction()
    /// The thread that follows the file; nil unless another program writes it.
    let follower = RankedMutex<Follower?>(.leaf, nil)
    /// The node that writes the realm, while this one only follows its log; nil when this one writes it.
    let writingNode = RankedMutex<String?>(.leaf, nil)
    /// The state of the realm and its log that requests check.
    package let replicationStatus = ReplicationStatus()
    /// The versions that are kept for readers on other nodes; nil when there are none.
    let keptVersions = RankedMutex<KeptVersions?>(.leaf, nil)
    /// Why a followed file cannot be read at present; nil when it can.
    let absent = RankedMutex<StorageError?>(.leaf, nil)
    /// The file and how it was opened; nil when it cannot be opened again.
    private let opening = RankedMutex<Source?>(.leaf, nil)

    /// A file and how it was opened.
    package struct Source: Sendable {
        /// The path of the file as it was given, before symbolic links were resolved.
        package let path: String
        package let options: OpenOptions
    }

    /// The instant in nanoseconds of the last request for the realm.
    private let used = Atomic<UInt64>(Instant.now().nanoseconds)

    /// The instant of the last request for the realm, or of the last time at which it was found in use.
    package var lastUse: Instant { Instant(nanoseconds: used.load(ordering: .relaxed)) }

    /// Records that the realm is used.
    package func noteUse(_ now: Instant) { used.store(now.nanoseconds, ordering: .relaxed) }

    /// Whether the realm may be closed when idle: its file can be opened again, and nothing of it is in progress.
    package var mayBeClosed: Bool {
        ownsOriginal && !path.isEmpty && source != nil && pendingWrites == 0 && openTransaction == nil
            && !isCompacting.load(ordering: .relaxed) && health.isSound
    }

    /// The path and options for reopening the realm; nil when that is not possible.
    package var source: Source? { opening.withLock { $0 } }
    /// The classes whose objects may only be written by requests that state a condition.
    package var conditionalClasses: Set<ByteText> { source?.options.conditionalClasses ?? [] }

    /// Stores what is needed to open the realm again.
    func noteSource(_ path: String, _ options: OpenOptions) {
        opening.withLock { $0 = Source(path: path, options: options) }
        setDefaults(options.defaults)
    }

    /// The values of properties that creates leave out; set once, when the realm is opened.
    private let classDefaults = RankedMutex(.leaf, ClassDefaults.none)
    /// The values of properties that creates leave out.
    package var defaults: ClassDefaults { classDefaults.withLock { $0 } }

    /// Sets the values of properties that creates leave out, before the first write.
    func setDefaults(_ defaults: ClassDefaults) { classDefaults.withLock { $0 = defaults } }

    /// Opens a file for reading only, without a check that no other process writes to it.
    package convenience init(
        name: RealmName, path: String, key: EncryptionKey? = nil, backlinkNames: BacklinkNames = .none
    ) throws(StorageError) {
        let snapshot = try Snapshot(file: try RealmFile(path: path, key: key))
        self.init(name: name, path: path, mode: .readOnly, snapshot: snapshot, store: nil, backlinkNames: backlinkNames)
    }

    /// Makes a database for a snapshot, with a store if it can be written. `startWriter` must be called before the first write.
    init(
        name: RealmName, path: String, mode: Mode, snapshot: Snapshot, store: FileStore?, memoryIdentifier: String? = nil,
        privateFile: NewFile? = nil, copies: FileCopies? = nil, originalName: String? = nil, readOnlyReason: StorageError? = nil,
        limits: WriteLimits = WriteLimits(), keptCopyCount: Int = 1, backlinkNames: BacklinkNames,
        shownClasses: ShownClasses? = nil, observation: ObservationLimits = ObservationLimits(),
        logger: Logger = EngineLog.silent, former: ClosedRealm.Former? = nil,
        epoch continued: Epoch? = nil, conversion: ConversionReport? = nil
    ) {
        // A reopened realm continues where it was, unless its file has changed.
        let former = former?.version == snapshot.version ? former : nil
        let epoch = continued ?? former?.epoch ?? Epoch()
        let log = EngineLog(logger, name)
        self.name = name
        self.log = log
        self.path = path
        self.mode = mode
        epochInForce = RankedMutex(.leaf, epoch)
        self.store = store
        self.memoryIdentifier = memoryIdentifier
        self.privateFile = RankedMutex(.leaf, privateFile)
        self.copies = copies
        self.originalName = originalName
        ban = RankedMutex(.leaf, readOnlyReason)
        self.keptCopyCount = keptCopyCount
        self.conversion = conversion
        // A private copy that is read stays as it is; its original may change.
        let isPrivate = mode == .follow || conversion != nil && store == nil
        health = FileHealth(isPrivate ? nil : store?.witness ?? snapshot.file.witness)
        self.limits = limits
        self.backlinkNames = backlinkNames
        self.shownClasses = shownClasses
        asyncWrites = former?.asyncWrites ?? AsyncWrites(limits)
        observations = ObservationHub(
            commits, backlinkNames: backlinkNames, limits: observation,
            didEvaluate: { begin in log.noteEvaluation(since: begin) })
        scopedObservations = ScopedObservations { [commits] scope in
            ObservationHub(
                commits, backlinkNames: backlinkNames, limits: observation, scope: scope,
                didEvaluate: { begin in log.noteEvaluation(since: begin) })
        }
        // A follower counts the states that it has seen.
        let number = mode == .follow ? 1 : snapshot.version
        let shown = shownClasses?.part(of: snapshot) ?? snapshot
        newest = RankedMutex(.leaf, Version(shown, VersionToken(epoch: epoch, version: number)))
        observations.serve(self)
    }

    /// Returns the hub that advances observed targets for listeners of a scope.
    ///
    /// - Parameter scope: The view of the listeners; nil for everything.
    package func observations(for scope: (any VersionScope)?) -> ObservationHub {
        guard let scope else { return observations }
        let hub = scopedObservations.hub(for: scope)
        hub.serve(self)
        return hub
    }

    /// Has those who observe the realm in a scope from now on get a new hub, if the given one is still that of the scope. The caller
    /// closes it.
    package func forgetObservations(_ hub: ObservationHub, for scope: any VersionScope) {
        scopedObservations.forget(hub, of: scope.identity)
    }

    /// Has all observed targets use another object for the newest version: the same version in another file.
    func moveObservations(to version: Version) {
        observations.move(to: version)
        scopedObservations.move(to: version)
    }

    /// Ends all observations. Blocks until that is done.
    func closeObservations() {
        observations.close()
        scopedObservations.close()
    }

    /// The newest version. Reading it takes a lock for an instant only.
    package var current: Version { newest.withLock { $0 } }

    /// Returns what of a version of the file is shown: all of it, or some of its classes.
    ///
    /// - Parameter whole: The version, with all classes of the file.
    func shown(_ whole: Snapshot) -> Snapshot {
        guard let shownClasses else { return whole }
        return shownClasses.part(of: whole, after: current.snapshot)
    }

    /// Whether what was committed is gone when the database is closed.
    package var losesCommits: Bool { mode == .copy || path.isEmpty || isDiscarded.load(ordering: .acquiring) }

    /// Notes that the file is about to be deleted or replaced by another one; false takes that back.
    package func setDiscarded(_ isDiscarded: Bool = true) { self.isDiscarded.store(isDiscarded, ordering: .releasing) }

    /// Whether writes are accepted; this may become false while the realm is open.
    package var isWritable: Bool { (mode == .readWrite || mode == .copy) && !isBanned.load(ordering: .acquiring) }

    /// The mode in which the realm is served at present: a file that is not written after all is only read.
    package var servedMode: Mode { isWritable || mode == .follow ? mode : .readOnly }

    /// Why the file is only read although writing was not excluded; nil for all other realms.
    package var readOnlyReason: StorageError? { ban.withLock { $0 } }

    /// Rejects all writes from now on.
    ///
    /// - Parameter reason: The damage that was found.
    func refuseWrites(_ reason: StorageError) {
        ban.withLock { $0 = reason }
        isBanned.store(true, ordering: .releasing)
        log.refusesWrites(reason)
    }
}

extension Database {
    /// Collects the facts about the file that a realm document contains.
    ///
    /// - Parameter version: The version whose classes are counted.
    /// - Throws: `StorageError` when the list of free blocks cannot be read.
    /// - Complexity: Linear in the number of classes and free blocks.
    package func facts(of version: Version) throws(StorageError) -> DatabaseFacts {
        let snapshot = version.snapshot
        return DatabaseFacts(
            isEncrypted: snapshot.file.isEncrypted,
            fileFormat: ownsOriginal && store != nil ? Database.fileFormat(of: snapshot) : originalFormat(of: snapshot),
            schemaVersion: snapshot.schemaVersion,
            fileBytes: snapshot.file.fileByteCount, usedBytes: try Database.usedBytes(snapshot),
            classCount: snapshot.classes.count,
            isEmpty: snapshot.isEmpty, liveVersions: liveVersions, pendingWrites: pendingWrites)
    }

    /// Returns the format of the file of a snapshot; for an empty file the format of new files.
    package static func fileFormat(of snapshot: Snapshot) -> Int {
        snapshot.fileFormat == 0 ? FileHeader.writtenFormat : snapshot.fileFormat
    }

    /// Returns the format of the file that a private copy was made of, as far as it is known.
    private func originalFormat(of snapshot: Snapshot) -> Int {
        conversion?.fromFormat ?? Database.fileFormat(of: snapshot)
    }

    /// The number of versions in use, including the newest.
    package var liveVersions: Int { max(1, store?.liveVersionCount ?? 1) }

    /// The age of the oldest version in use that is not the newest; zero when there is none.
    package var oldestPinned: Duration { store?.oldestLiveSince.map { Instant.now().duration(since: $0) } ?? .zero }

    /// The number of bytes of the file that are in use; nil when the list of free blocks cannot be read.
    package var usedBytes: Int? { try? Database.usedBytes(current.snapshot) }

    /// Returns the logical size of the file without its free blocks.
    package static func usedBytes(_ snapshot: Snapshot) throws(StorageError) -> Int {
        try snapshot.top.usedByteCount(in: snapshot.space)
    }
}

extension Snapshot {
    /// Whether no class has any object.
    package var isEmpty: Bool { classes.allSatisfy { $0.kind == .embedded || $0.count == 0 } }
}

/// The facts about an open file that its realm document contains.
package struct DatabaseFacts: Sendable {
    /// Whether the file is encrypted.
    package let isEncrypted: Bool
    /// The file format; for an empty file the format of new files.
    package let fileFormat: Int
    /// The schema version; nil when the file has none.
    package let schemaVersion: UInt64?
    /// The length of the file in bytes.
    package let fileBytes: Int
    /// The number of bytes of the file that are in use.
    package let usedBytes: Int
    package let classCount: Int
    /// Whether no class has any object.
    package let isEmpty: Bool
    /// The number of versions in use, including the newest.
    package let liveVersions: Int
    /// The number of writes that are not completed yet.
    package let pendingWrites: Int
}

/// An action that runs once after a realm was closed. Any thread may use it.
final class ClosingAction: Sendable {
    /// The action; nil when there is none, and after it was taken.
    private let stored = RankedMutex<(@Sendable () -> Void)?>(.leaf, nil)

    func set(_ action: @escaping @Sendable () -> Void) { stored.withLock { $0 = action } }

    /// Returns the action, and leaves none.
    func take() -> (@Sendable () -> Void)? {
        stored.withLock { stored in
            defer { stored = nil }
            return stored
        }
    }
}

extension Database {
    /// Sets an action for after the file was closed. It runs on the closing thread, which may wait. The opener of the realm calls
    /// this before sharing the realm.
    package func whenClosed(_ action: @escaping @Sendable () -> Void) { closing.set(action) }
}
