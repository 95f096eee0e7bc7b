// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// A realm that this node owns, and whose commits happen in a log.
///
/// It is opened and closed on a thread that may wait. After an error that `leavesFileBehind` it has to be closed and opened
/// again; reads continue, and see nothing that the log lacks.
package final class LoggedRealm: Sendable {
    /// The open realm.
    package let database: Database
    package let owner: RealmOwner
    /// How the file was brought up to the log; nil when the log began with it.
    package let way: LogReplay.Way?
    private let log: any RealmLog

    package struct Opening: Sendable {
        package let name: RealmName
        /// The path of its file, without symbolic links.
        package let path: String
        package let node: String
        /// The options of opening. The file is always opened for writing.
        package var options: Database.OpenOptions
        /// Timeouts and sizes of requests to the log.
        package var limits = RealmOwner.Limits()
        /// For how many seconds the owner keeps versions after newer ones took their place, so that readers on other nodes are not
        /// disturbed; 0 for not at all.
        package var reuseGraceSeconds = 2.0
        /// The oldest version that requests of an earlier opening still read; nil when there are none.
        package var oldestReader: UInt64?

        package init(_ name: RealmName, path: String, node: String, _ options: Database.OpenOptions) {
            self.name = name
            self.path = path
            self.node = node
            self.options = options
            self.options.mode = .readWrite
            // Both would write what the log does not have.
            self.options.compaction = nil
            self.options.upgradesInPlace = false
        }
    }

    /// Takes over an open realm.
    init(_ database: Database, _ owner: RealmOwner, by way: LogReplay.Way?, log: any RealmLog) {
        self.database = database
        self.owner = owner
        self.way = way
        self.log = log
    }

    /// Takes an open realm over again that another value was for before.
    package convenience init(resuming database: Database, _ owner: RealmOwner, log: any RealmLog) {
        self.init(database, owner, by: nil, log: log)
    }

    /// Becomes the owner of a realm, brings its file up to the log, and opens it.
    ///
    /// A realm that the log does not know is opened as it is, or created if the options say so, and begins its log.
    ///
    /// - Throws: `.refused(.notOwner)` when another node was faster, `.refused(.logUnavailable)`, and what opening a file throws.
    package static func open(_ opening: Opening, _ log: any RealmLog) throws(StorageError) -> LoggedRealm {
        // A claim would end the writes of an opening that this file has already.
        try OwnershipLock.check(ofFile: opening.path)
        let owner = RealmOwner(
            opening.name.text, node: opening.node, log: log, opening.limits, key: opening.options.key)
        if let head = try owner.claim() {
            guard opening.options.beginsHistory else { return try open(opening, log, owner, at: head) }
            guard let begun = try begin(opening, log, owner, over: head) else { throw .refused(.notOwner("")) }
            return begun
        }
        try requireOwnFile(opening, log)
        if let begun = try begin(opening, log, owner, over: nil) { return begun }
        // Another node has begun the log meanwhile.
        guard let head = try owner.claim() else { throw .refused(.logUnavailable("the log has lost the realm")) }
        return try open(opening, log, owner, at: head)
    }

    private static func open(
        _ opening: Opening, _ log: any RealmLog, _ owner: RealmOwner, at head: LogHead
    ) throws(StorageError) -> LoggedRealm {
        let (database, chain, way) = try openFile(opening, log, at: head)
        do throws(StorageError) {
            try owner.begin(at: chain, top: database.current.snapshot.top.ref, path: opening.path)
            try database.keepRecords(in: owner)
            database.keepVersions(seconds: opening.reuseGraceSeconds)
            return LoggedRealm(database, owner, by: way, log: log)
        } catch {
            database.close()
            throw error
        }
    }

    /// Brings the file of a realm up to a head, and opens it.
    ///
    /// - Returns: The open realm, its place in the chain, and how the file was brought up.
    static func openFile(
        _ opening: Opening, _ log: any RealmLog, at head: LogHead
    ) throws(StorageError) -> (database: Database, chain: RecordChain, way: LogReplay.Way) {
        let replay = LogReplay(
            opening.name.text, path: opening.path, log: log, key: opening.options.key, oldestReader: opening.oldestReader)
        var (chain, way) = try replay.bringUp(to: head)
        let database: Database
        do throws(StorageError) {
            database = try openFile(opening, of: head)
        } catch {
            // A file that was damaged since is made anew, and one that was made anew is not damaged.
            guard error.mayBeDamage, case .records = way else { throw error }
            (chain, way) = try replay.bringUp(to: head, isAnew: true)
            database = try openFile(opening, of: head)
        }
        guard database.current.snapshot.version == head.version else {
            database.close()
            throw .refused(.fileChanged("opening the file has made another version than the log has"))
        }
        return (database, chain, way)
    }

    /// Opens the file of a realm, with the epoch of its log.
    private static func openFile(_ opening: Opening, of head: LogHead) throws(StorageError) -> Database {
        var options = opening.options
        options.createsMissingFile = false
        options.epoch = Epoch(continuing: head.lineage)
        return try Database.open(name: opening.name, path: opening.path, options)
    }

    /// Deletes the file of a realm that was dropped from its log: a cache of nothing.
    static func removeDropped(_ opening: Opening, _ log: any RealmLog) throws(StorageError) {
        guard let place = FilePosition.read(for: opening.path).first,
            try log.hasDropped(opening.name.text, lineage: place.chain.epoch)
        else { return }
        try RealmFiles.delete(opening.path, key: opening.options.key)
    }

    /// Refuses a file that came from a log which does not know its realm and has not forgotten it either: the log is another one.
    private static func requireOwnFile(_ opening: Opening, _ log: any RealmLog) throws(StorageError) {
        try removeDropped(opening, log)
        guard System.entry(atPath: opening.path) != nil else {
            guard opening.options.createsMissingFile else { throw .refused(.fileNotFound) }
            return
        }
        guard let place = FilePosition.read(for: opening.path).first else { return }
        throw .refused(
            .unsuitable(
                "the file was in a log that does not know its realm any more (version \(place.chain.version) of "
                    + "\(place.chain.epoch)); to begin a new log with it, remove \(FilePosition.path(of: opening.path))"))
    }

    /// Opens a realm with the file as it is, and begins its log; nil when another node was faster.
    ///
    /// - Parameter former: The head of a log that is begun anew; nil when the log does not know the realm.
    private static func begin(
        _ opening: Opening, _ log: any RealmLog, _ owner: RealmOwner, over former: LogHead?
    ) throws(StorageError) -> LoggedRealm? {
        let database = try Database.open(name: opening.name, path: opening.path, opening.options)
        do throws(StorageError) {
            let snapshot = database.current.snapshot
            let chain = try RecordChain(
                realm: opening.name.text, epoch: database.epoch.text, base: snapshot.version)
            let (base, file) = try LogBases.copy(snapshot, at: chain, key: opening.options.key)
            defer { System.close(file) }
            let head = LogHead(
                lineage: base.lineage, version: base.version, checksum: base.checksum, epoch: (former?.epoch ?? 0) + 1,
                owner: owner.owner)
            let isBegun: Bool
            if let former {
                isBegun = try log.restart(head, over: former, of: opening.name.text, base: base, from: file)
            } else {
                isBegun = try log.create(head, of: opening.name.text, base: base, from: file)
            }
            guard isBegun else {
                database.close()
                return nil
            }
            try owner.noteCreated(head)
            try owner.begin(at: chain, top: database.current.snapshot.top.ref, path: opening.path)
            try database.keepRecords(in: owner)
            database.keepVersions(seconds: opening.reuseGraceSeconds)
            return LoggedRealm(database, owner, by: nil, log: log)
        } catch {
            database.close()
            throw error
        }
    }

    /// Stores a base of the newest version.
    ///
    /// - Returns: The base.
    /// - Throws: `.refused(.notWritable)` when commits follow each other too fast to take one.
    package func makeBase() throws(StorageError) -> LogBase {
        for _ in 0..<20 {
            let snapshot = database.current.snapshot
            guard let place = owner.place else { break }
            guard place.version == snapshot.version else {
                Threads.sleep(seconds: 0.001)
                continue
            }
            let (base, file) = try LogBases.copy(snapshot, at: place, key: database.key)
            defer { System.close(file) }
            try log.put(base, of: owner.realm, from: file)
            return base
        }
        throw .refused(.notWritable("commits follow each other too fast"))
    }

    /// The bases of the realm, the newest first.
    func bases() throws(StorageError) -> [LogBase] { try log.bases(of: owner.realm) }

    /// Deletes what need not be kept of the log; see `LogBases.prune`.
    package func prune(keeping count: Int) throws(StorageError) -> UInt64? {
        try LogBases.prune(owner.realm, lineage: database.epoch.text, log, key: database.key, keeping: count)
    }

    /// Closes the realm and opens it again, brought up to its log: after an error that `leavesFileBehind`.
    ///
    /// Requests that still read the old opening continue. If records would overwrite versions they read, the file is made anew.
    package func reopen(_ opening: Opening) throws(StorageError) -> LoggedRealm {
        close()
        var opening = opening
        opening.oldestReader = database.oldestLiveVersion
        return try LoggedRealm.open(opening, log)
    }

    /// Finishes waiting writes, closes the file, and releases the realm in the log.
    package func close() {
        database.close()
        owner.release()
    }
}
