// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The owner of a realm whose commits happen in a log: a `CommitLog` that returns when the log has stored a record.
///
/// An error of `append` says whether the record is stored. `.refused(.logUnavailable)` and `.limit` are certain: it is not, and
/// the next write may be tried. `.refused(.notOwner)` is certain too, and the realm has to be opened again before the next write.
/// `.refused(.outcomeUnknown)` is not; opening the realm again settles it.
///
/// `@unchecked Sendable`: one thread at a time uses it, the one that opens the realm, then the one that writes, then the one that
/// closes; `place` has a lock.
package final class RealmOwner: CommitLog, @unchecked Sendable {
    package let realm: String
    package var owner: LogOwner { driver.machine.owner }
    /// The greatest number of bytes of a record.
    package var maximumByteCount: Int { limits.recordBytes }
    /// Timeouts and sizes of requests to the log.
    private let limits: RealmOwner.Limits
    /// The key with which records are encrypted; nil for a realm that is not encrypted.
    private let key: EncryptionKey?
    /// Carries out what the owner does.
    private var driver: OwnerDriver
    private let log: any RealmLog
    /// The place in the chain that the log has reached; nil before the realm is owned.
    private var chain: RecordChain?
    /// The file that states how far the file of the realm has come.
    private var position: FilePosition?
    /// The state that other threads may read.
    private let reached = RankedMutex(.leaf, Reached())

    /// The state that other threads may read.
    private struct Reached {
        /// The place in the chain that the file of the realm has reached; nil before the realm is owned.
        var place: RecordChain?
        /// The volume stored since then.
        var volume = Volume()
    }

    /// A number of records and their bytes.
    package struct Volume: Sendable, Equatable {
        package var records = 0
        package var bytes = 0
    }

    /// Called when the realm has to be reopened before it can be written again; see `whenLost`.
    private let losing = RankedMutex<Callback<StorageError>?>(.leaf, nil)

    /// The place in the chain that the file of the realm has reached; nil before the realm is owned. For any thread.
    package var place: RecordChain? { reached.withLock { $0.place } }
    /// The volume that this owner has stored. For any thread.
    package var volume: Volume { reached.withLock { $0.volume } }

    /// Makes an owner that owns nothing yet.
    ///
    /// - Parameters:
    ///   - limits: Timeouts and sizes of requests to the log.
    ///   - key: The key of an encrypted realm, with which its records are encrypted; nil for a plain one.
    package init(
        _ realm: String, node: String, log: any RealmLog, _ limits: RealmOwner.Limits = RealmOwner.Limits(),
        key: EncryptionKey? = nil
    ) {
        self.realm = realm
        self.limits = limits
        self.key = key
        self.log = log
        driver = OwnerDriver(realm, LogOwner(node: node, token: RealmOwner.RandomText.token()), log)
    }

    // MARK: - Opening and closing

    /// Becomes the owner.
    ///
    /// - Returns: The head, which is durable; nil when the log does not know the realm.
    /// - Throws: `.refused(.notOwner)` when another one was faster; `.refused(.logUnavailable)`.
    package func claim() throws(StorageError) -> LogHead? {
        let outcome = driver.run(.claim, until: Instant.now().adding(seconds: limits.claimSeconds))
        switch outcome {
        case .claimed(let head): return head
        case .missing: return nil
        default: throw error(outcome)
        }
    }

    /// Notes that the log of the realm was begun, or begun anew, with this owner.
    package func noteCreated(_ head: LogHead) throws(StorageError) {
        let outcome = driver.run(.created(head), until: .distantFuture)
        guard case .claimed = outcome else { throw error(outcome) }
    }

    /// Begins to store records, of a file that is where the head is.
    ///
    /// - Parameters:
    ///   - chain: The place in the chain.
    ///   - top: The top node of the version that the file has.
    package func begin(at chain: RecordChain, top: Ref, path: String) throws(StorageError) {
        position = try FilePosition(chain, top: top, for: path)
        self.chain = chain
        reached.withLock { $0.place = chain }
    }

    /// Sets the callback for when the realm has to be reopened before it can be written again. The writer's thread calls it, so it
    /// must not wait.
    package func whenLost(_ action: @escaping @Sendable (StorageError) -> Void) { losing.withLock { $0 = Callback(action) } }

    /// Releases the realm in the log. The next owner does not depend on it, so it may be lost.
    package func release() {
        _ = driver.run(.release, until: Instant.now().adding(seconds: limits.appendSeconds))
    }

    // MARK: - CommitLog

    /// True: a file is a cache of the log.
    package var isDurable: Bool { true }

    /// Whether records are encrypted.
    package var isEncrypted: Bool { key != nil }

    /// Stores a record, and returns when it is durable in the log.
    package func append(_ record: CommitRecord) throws(StorageError) { try append(record, meanwhile: {}) }

    /// Stores a record while other work is done, and returns when it is durable in the log.
    package func append(_ record: CommitRecord, meanwhile work: () -> Void) throws(StorageError) {
        guard !record.isWithoutBytes else { throw tooLong }
        guard var next = chain, record.previousVersion == next.version else {
            throw .refused(.notWritable("the file has not the version that its log has"))
        }
        let bytes = try next.seal(record, key)
        guard bytes.count <= limits.recordBytes else { throw tooLong }
        guard let checksum = LogChecksum(next.checksum) else { throw .io(operation: "digest", errno: 5) }
        var requests: [CommittedRequest] = []
        for request in record.notes.requests { requests.append(try RecordCipher.hidden(request, key)) }
        let entry = LogRequest.Entry(version: record.version, checksum: checksum)
        let outcome = driver.run(
            .append(entry), bytes, requests, until: Instant.now().adding(seconds: limits.appendSeconds), meanwhile: work)
        guard case .stored = outcome else {
            let error = error(outcome)
            if error.leavesFileBehind { losing.withLock { $0 }?.call(error) }
            throw error
        }
        chain = next
        reached.withLock { reached in
            reached.volume.records += 1
            reached.volume.bytes += bytes.count
        }
    }

    /// True: another node may become the owner at any time.
    package var isShared: Bool { true }

    /// Asks the log whether this is still the owner.
    package func confirm() throws(StorageError) {
        do throws(StorageError) {
            _ = try log.confirm(owner, of: realm, until: Instant.now().adding(seconds: limits.appendSeconds))
        } catch {
            if error.leavesFileBehind { losing.withLock { $0 }?.call(error) }
            throw error
        }
    }

    /// Returns false: what the log has stored counts. The file is brought up to it when it is opened again.
    package func takeBack(_ record: CommitRecord) -> Bool {
        losing.withLock { $0 }?.call(.refused(.outcomeUnknown))
        return false
    }

    /// Records how far the file has come. A position that cannot be written only lags more.
    package func didCommit(_ record: CommitRecord) {
        guard let chain else { return }
        try? position?.move(to: chain, top: record.topRef)
        reached.withLock { $0.place = chain }
    }

    /// Refuses another file with the same version: records would not fit the copies of it.
    package func requireReplaceable() throws(StorageError) {
        throw .refused(.unsuitable("a realm whose commits are in a log keeps its file; compact it while it is not in the log"))
    }

    /// Is never called, as no file is replaceable.
    package func didReplaceFile() {}

    /// The error for a commit with too many bytes.
    private var tooLong: StorageError {
        .limit("the commit has more than \(limits.recordBytes) bytes, which is the most that the log of the realm stores at once")
    }

    /// Returns the error for an outcome that is none of those that were hoped for.
    private func error(_ outcome: OwnerMachine.Outcome) -> StorageError {
        switch outcome {
        case .fenced(let head): return .refused(.notOwner(head.owner.node))
        case .unknown: return .refused(.outcomeUnknown)
        default: return .refused(.logUnavailable(driver.reason))
        }
    }
}

extension RealmOwner {
    /// Timeouts and sizes of requests of an owner to the log.
    package struct Limits: Sendable {
        /// The number of seconds that a write waits for the log.
        package var appendSeconds = 3.0
        /// The number of seconds that a claim waits for the log.
        package var claimSeconds = 10.0
        /// The greatest number of bytes of a record. A longer commit is refused before anything is sent.
        package var recordBytes = 256 << 20

        /// Makes the usual limits.
        package init() {}
    }
}

extension RealmOwner {
    /// Unique random strings.
    enum RandomText {
        /// Returns 75 random bits as text.
        static func token() -> String {
            let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
            return String((0..<15).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] })
        }
    }
}
