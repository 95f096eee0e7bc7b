// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// Ships one realm: keeps the records of its commits until they are stored, and stores a base where records do not lead.
///
/// A commit never waits for the store. When more records wait than may, they are dropped, and a base takes their place. A base is
/// also needed at first, when the file was replaced or changed by others, after a commit with more bytes than a record may have,
/// after one that changed the schema, and when the records have become longer than the base.
///
/// The thread that writes the realm calls the functions of `CommitLog`; one other thread ships.
package final class RealmShipper: CommitLog {
    /// The waiting commits, and the position of the store.
    private struct State {
        /// The realm; nil when it was closed.
        weak var database: Database?
        /// The opening of the file whose commits were followed last.
        var epoch: Epoch?
        /// The record that was appended and whose commit has not ended.
        var pending: CommitRecord?
        /// The records of commits that are not in the store, in order.
        var queue: [CommitRecord] = []
        /// The number of the version that was committed last.
        var committed: UInt64 = 0
        /// Whether the store needs a base before records are of use.
        var needsBase = true
        /// The time of the oldest commit that is not in the store, in nanoseconds; nil when there is none.
        var oldestUnshipped: Int64?
    }

    /// The store as the shipping thread knows it; used by that thread alone.
    private struct Stored {
        /// The place in the chain that the store has reached; nil before the first base.
        var chain: RecordChain?
        /// The length of the base.
        var baseByteCount = 0
        /// The number of bytes of the records after the base.
        var recordByteCount = 0
        /// The number of sequences after the base.
        var fileCount = 0
    }

    /// The result of one round.
    package struct Progress: Sendable {
        /// The number of bases that were stored.
        package var bases = 0
        /// The number of records that were stored.
        package var records = 0
        /// The number of bytes that were stored.
        package var byteCount = 0

        /// Makes a value for a round that has done nothing yet.
        package init() {}
    }

    package let name: RealmName
    /// The greatest number of bytes of one record.
    package let maximumByteCount: Int
    /// The memory that waiting records of all realms share.
    private let budget: ShipBudget
    /// The number of bytes of records after a base that never ask for another one.
    private let fewBytes: Int
    private let state = RankedMutex(.leaf, State())
    private let stored = RankedMutex(.leaf, Stored())

    /// The number of bytes of records from which on one file takes no more of them.
    private static let fileByteCount = 8 << 20
    /// The number of files of records after a base that asks for another one.
    private static let manyFiles = 2000

    /// Makes a shipper that follows no realm yet.
    ///
    /// - Parameters:
    ///   - budget: The memory that waiting records of all realms share.
    ///   - fewBytes: The number of bytes of records after a base that never ask for another one.
    package init(_ name: RealmName, _ budget: ShipBudget, fewBytes: Int = 4 << 20) {
        self.name = name
        self.budget = budget
        self.fewBytes = fewBytes
        maximumByteCount = budget.limit / 2
    }

    // MARK: - The realm

    /// Follows a realm that was opened, from its newest version on.
    ///
    /// - Throws: `.refused(.unsuitable)` for an encrypted file.
    package func attach(_ database: Database) throws(StorageError) {
        guard let store = database.store else { return }
        let version = database.current.snapshot.version
        let epoch = database.epoch
        let dropped = state.withLock { state -> [CommitRecord] in
            let isKnown = state.epoch == epoch && state.committed == version
            state.database = database
            state.epoch = epoch
            state.committed = version
            state.pending = nil
            guard !isKnown else { return [] }
            return RealmShipper.requireBase(&state, since: WallClock.now().nanoseconds)
        }
        release(dropped)
        try store.setLog(self)
    }

    /// The realm that is followed, as long as it is open.
    package var database: Database? { state.withLock { $0.database } }

    /// Drops all records that wait, and asks for a base.
    private static func requireBase(_ state: inout State, since time: Int64) -> [CommitRecord] {
        defer { state.queue = [] }
        state.needsBase = true
        state.oldestUnshipped = state.oldestUnshipped ?? time
        return state.queue
    }

    /// Gives back the memory of records.
    private func release(_ records: [CommitRecord]) { for record in records { budget.give(RealmShipper.cost(of: record)) } }

    /// The approximate memory of a record.
    private static func cost(of record: CommitRecord) -> Int {
        record.byteCount + 64 * record.notes.changes.count + 512
    }

    // MARK: - CommitLog

    /// Keeps a record until its commit has ended.
    package func append(_ record: CommitRecord) throws(StorageError) { state.withLock { $0.pending = record } }

    /// Drops the record of a commit that the file refused.
    package func takeBack(_ record: CommitRecord) -> Bool {
        state.withLock { $0.pending = nil }
        return true
    }

    /// Lets a record wait for the store.
    package func didCommit(_ record: CommitRecord) {
        let isTaken = budget.take(RealmShipper.cost(of: record))
        let dropped = state.withLock { state -> [CommitRecord] in
            state.pending = nil
            state.committed = record.version
            state.oldestUnshipped = state.oldestUnshipped ?? record.time
            guard isTaken, !record.isWithoutBytes else { return RealmShipper.requireBase(&state, since: record.time) }
            // A base may be of the version before this one, so the last record always waits.
            let dropped = state.needsBase ? state.queue : []
            if state.needsBase { state.queue = [] }
            state.queue.append(record)
            return dropped
        }
        release(dropped)
        if isTaken, record.isWithoutBytes { release([record]) }
    }

    /// Allows any file to be replaced: a base of the new one begins a new chain.
    package func requireReplaceable() {}

    /// Asks for a base of the new file.
    package func didReplaceFile() {
        release(state.withLock { RealmShipper.requireBase(&$0, since: WallClock.now().nanoseconds) })
    }

    // MARK: - Shipping

    /// Whether anything waits for the store.
    package var isBehind: Bool { state.withLock { $0.needsBase || !$0.queue.isEmpty } }
    /// Whether the next thing to be stored is a base, for which the realm has to be open.
    package var needsBase: Bool { state.withLock { $0.needsBase } }
    /// The time of the oldest commit that is not in the store; nil when there is none.
    package var behindSince: WallClock? {
        state.withLock { state in
            state.needsBase || !state.queue.isEmpty ? state.oldestUnshipped.map { WallClock(nanoseconds: $0) } : nil
        }
    }
    /// The number of commits that wait, at least.
    package var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Stores waiting commits, and returns when they are stored. One thread calls it.
    ///
    /// - Parameters:
    ///   - control: Ends the transfer when it is cancelled.
    ///   - progress: The progress, also before an error.
    /// - Throws: `StorageError` when the store or the file refuses; unstored commits keep waiting.
    package func ship(
        to store: any BackupStore, _ control: WorkControl?, _ progress: inout Progress
    ) throws(StorageError) {
        if needsBase { try shipBase(to: store, control, &progress) }
        while try shipRecords(to: store, control, &progress) {}
    }

    /// Stores a base of the newest version.
    private func shipBase(
        to store: any BackupStore, _ control: WorkControl?, _ progress: inout Progress
    ) throws(StorageError) {
        // From here on records wait again. Those that the base has already are dropped below.
        guard
            let database = state.withLock({ state -> Database? in
                guard let database = state.database else { return nil }
                state.needsBase = false
                return database
            })
        else { return }
        do throws(StorageError) {
            let snapshot = database.current.snapshot.whole
            let chain = try storeBase(snapshot, of: database, store, control, &progress)
            stored.withLock { $0 = chain }
            let dropped = state.withLock { state -> [CommitRecord] in
                let dropped = state.queue.filter { $0.version <= snapshot.version }
                state.queue.removeAll { $0.version <= snapshot.version }
                state.oldestUnshipped = state.queue.first?.time
                return dropped
            }
            release(dropped)
        } catch {
            state.withLock { $0.needsBase = true }
            throw error
        }
    }

    /// Stores a version as a base, unless the newest one in the store has the same bytes and nothing follows it.
    private func storeBase(
        _ snapshot: Snapshot, of database: Database, _ store: any BackupStore, _ control: WorkControl?,
        _ progress: inout Progress
    ) throws(StorageError) -> Stored {
        let seconds = WallClock.now().nanoseconds / 1_000_000_000 + 1
        let newest = ShippedChain.chains(in: try store.shipped(of: name)).first { $0.records.isEmpty }
        let epoch = Epoch().text
        var byteCount = 0
        var same: ShippedChain?
        let made = try store.ship(of: name, control) { digest in
            if let newest, newest.base.digest == digest, newest.base.version == snapshot.version {
                same = newest
                return nil
            }
            return ShipName(realm: name, seconds: seconds, chain: epoch, version: snapshot.version, .base(digest: digest))
        } _: { backend throws(StorageError) in
            try BaseCopy.write(snapshot, to: backend, control)
            // The copy has this version only if no other program could write to the file in the meantime.
            if let failure = database.health.checkFile() { throw failure }
            guard database.store?.isOpen == true else { throw .refused(.notWritable("the realm was closed")) }
            byteCount = backend.byteCount
        }
        if made != nil {
            progress.bases += 1
            progress.byteCount += byteCount
        }
        return Stored(
            chain: try RecordChain(realm: name.text, epoch: same?.base.chain ?? epoch, base: snapshot.version),
            baseByteCount: byteCount)
    }

    /// Stores the next records that wait, as one file.
    ///
    /// - Returns: Whether there may be more.
    private func shipRecords(
        to store: any BackupStore, _ control: WorkControl?, _ progress: inout Progress
    ) throws(StorageError) -> Bool {
        guard var chain = stored.withLock({ $0.chain }), !needsBase else { return false }
        let waiting = state.withLock { $0.queue }
        guard let first = waiting.first else { return false }
        guard first.previousVersion == chain.version else {
            didReplaceFile()
            return false
        }
        var bytes: [UInt8] = []
        var records: [CommitRecord] = []
        for record in waiting where bytes.count < RealmShipper.fileByteCount {
            bytes += try chain.seal(record)
            records.append(record)
        }
        guard let last = records.last else { return false }
        let name = ShipName(
            realm: name, seconds: last.time / 1_000_000_000, chain: chain.epoch, version: last.version,
            .records(first: first.version))
        _ = try store.ship(of: self.name, control) { _ in
            name
        } _: { backend throws(StorageError) in
            try backend.extend(to: bytes.count)
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: 0) }
        }
        progress.records += records.count
        progress.byteCount += bytes.count
        noteStored(records, chain, bytes.count)
        return true
    }

    /// Drops records that are in the store, and asks for a base if it is time for one.
    private func noteStored(_ records: [CommitRecord], _ chain: RecordChain, _ byteCount: Int) {
        let wantsBase = stored.withLock { stored -> Bool in
            stored.chain = chain
            stored.recordByteCount += byteCount
            stored.fileCount += 1
            return stored.recordByteCount > max(fewBytes, stored.baseByteCount)
                || stored.fileCount > RealmShipper.manyFiles
        }
        let dropped = state.withLock { state -> [CommitRecord] in
            let dropped = state.queue.filter { $0.version <= chain.version }
            state.queue.removeAll { $0.version <= chain.version }
            state.oldestUnshipped = state.queue.first?.time
            if wantsBase || records.contains(where: \.notes.changesSchema) { state.needsBase = true }
            return dropped
        }
        release(dropped)
    }
}
