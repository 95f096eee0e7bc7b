// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
package import RealmStorage

/// Makes the file of a realm what the log says that it is.
///
/// A file is a cache of the log. One that is behind is brought up by records; one that is not in the history of the log, or is
/// damaged, is replaced by one that is made of a base and the records after it.
///
/// Whether a realm is encrypted, and with which key, is what its bases say, which have digests: when one cannot be opened with the key, the
/// key is missing or wrong, and no file is touched.
package struct LogReplay {
    private let log: any RealmLog
    private let realm: String
    /// The path of the file, without symbolic links.
    private let path: String
    /// The key of the realm; nil for one that is not encrypted.
    private let key: EncryptionKey?
    /// The oldest version with readers in the file, which records must not overwrite; nil without readers.
    private let oldestReader: UInt64?

    /// How a file was brought up to its log.
    package enum Way: Sendable, Equatable {
        /// By records, in its place.
        case records(Int)
        /// Anew, from the base of a version.
        case base(version: UInt64)
    }

    /// Makes a value; nothing is read yet.
    ///
    /// - Parameters:
    ///   - path: The path of its file, without symbolic links. The file need not exist.
    ///   - key: The key of the realm; nil for one that is not encrypted.
    ///   - oldestReader: The oldest version with readers in the file; nil without readers.
    package init(
        _ realm: String, path: String, log: any RealmLog, key: EncryptionKey? = nil, oldestReader: UInt64? = nil
    ) {
        self.realm = realm
        self.path = path
        self.key = key
        self.log = log
        self.oldestReader = oldestReader
    }

    /// Brings the file up to a head, and returns when that is durable.
    ///
    /// - Parameters:
    ///   - head: A head that is durable in the log, such as that of a claim.
    ///   - isAnew: Whether the present file is of no use.
    /// - Returns: The place in the chain, which is that of the head, and how the file was brought up.
    /// - Throws: `.refused(.fileInUse)` when another program has the file open; `.refused(.logUnavailable)`;
    ///   `.refused(.encryptionKeyRequired)` or `.refused(.encryptionKeyWrong)` when the log, or a file that is not from the log, is not
    ///   encrypted as the key says; `.corrupt` when the log leads to the head from no base.
    package func bringUp(
        to head: LogHead, isAnew: Bool = false
    ) throws(StorageError) -> (chain: RecordChain, way: Way) {
        let positions = FilePosition.read(for: path)
        // A file that is not from the log is not replaced only because its key is not known.
        if positions.isEmpty { try Database.requireKnownKey(ofFile: path, key) }
        if !isAnew, let count = try follow(positions, to: head) { return (chain(of: head), .records(count)) }
        // A base may be deleted while it is read; then there is a newer one.
        for _ in 0..<2 {
            for base in try log.bases(of: realm) where base.lineage == head.lineage && base.version <= head.version {
                if try replace(by: base, upTo: head, isKnown: !positions.isEmpty) {
                    return (chain(of: head), .base(version: base.version))
                }
            }
        }
        throw noBase(head)
    }

    /// Returns the head of a realm, as it is visible now.
    ///
    /// - Throws: `.refused(.logUnavailable)`; `.refused(.unsuitable)` when the log does not know the realm.
    package static func head(of realm: String, in log: any RealmLog) throws(StorageError) -> LogHead {
        let call = LogCall(realm: realm, owner: .unowned, request: .head)
        switch log.perform(call, until: Instant.now().adding(seconds: RealmOwner.Limits().claimSeconds)) {
        case .head(let head?): return head
        case .head(nil): throw .refused(.unsuitable("the log does not know a realm '\(realm)'"))
        case .unsent(let reason): throw .refused(.logUnavailable(reason))
        default: throw .refused(.logUnavailable("there was no answer in time"))
        }
    }

    /// The place in the chain of a head.
    private func chain(of head: LogHead) -> RecordChain {
        RecordChain(realm: realm, epoch: head.lineage, version: head.version, checksum: head.checksum.bytes)
    }

    /// Brings the file up in its place, from the newest position that it has reached; nil when it has to be made anew.
    private func follow(_ places: [FilePosition.Place], to head: LogHead) throws(StorageError) -> Int? {
        guard !places.isEmpty else { return nil }
        let lock = try OwnershipLock(ofFile: path)
        defer { lock.release() }
        guard let backend = try FileBackend(path: path) else { return nil }
        defer { backend.close() }
        do throws(StorageError) {
            // The writer of the version may not have synced it.
            try backend.sync(.full)
            let version = try RecordApplier.version(of: backend, key: key)
            guard let place = places.first(where: { $0.chain.version <= version }) else { return nil }
            let position = place.chain
            guard position.realm == realm, position.epoch == head.lineage, position.version <= head.version else { return nil }
            let applier = try RecordApplier(backend, after: position, key: key)
            guard applier.version <= head.version else { return nil }
            if applier.version == position.version {
                let snapshot = try Snapshot(file: try RealmFile(path: path, key: key))
                guard snapshot.top.ref == place.top else { return nil }
            }
            let count = try apply(to: applier, upTo: head, oldestReader)
            return isAt(head, applier) ? count : nil
        } catch {
            if error.mayBeDamage { return nil }
            throw error
        }
    }

    /// Applies the records of the log from where an applier is.
    ///
    /// - Returns: Their number.
    private func apply(
        to applier: RecordApplier, upTo head: LogHead, _ oldestReader: UInt64?
    ) throws(StorageError) -> Int {
        guard applier.chain.version < head.version else { return 0 }
        var count = 0
        try log.records(
            of: realm, lineage: head.lineage, versions: applier.chain.version + 1...head.version
        ) { bytes throws(StorageError) in
            if let oldestReader {
                var place = applier.chain
                var start = 0
                let record = try place.open(bytes, at: &start, key)
                guard record.version <= applier.version || record.horizon < oldestReader else {
                    throw .corrupt(ref: .none, reason: "version \(oldestReader) is still read")
                }
            }
            var position = 0
            try applier.apply(bytes, at: &position)
            count += 1
        }
        return count
    }

    /// Whether an applier has made the version of a head, with its history.
    private func isAt(_ head: LogHead, _ applier: RecordApplier) -> Bool {
        isAt(head.version, applier) && applier.chain.checksum == head.checksum.bytes
    }

    /// Puts a file that is made from a base in the place of the present one; false when the base is damaged, or records after it
    /// are missing. A file that did not come from the log may hold user data, and is kept next to the new one.
    private func replace(by base: LogBase, upTo head: LogHead, isKnown: Bool) throws(StorageError) -> Bool {
        let copies = FileCopies(ofFile: path, key: key)
        let replacement = try FileReplacement(of: path, copies)
        guard try make(replacement.file, of: base, upTo: head) else { return false }
        if let kept = try replacement.swap(keeping: nil), isKnown { copies.remove(kept) }
        return true
    }

    /// Makes the file of a head next to the present one, which is not touched.
    ///
    /// - Returns: The file, which is complete.
    /// - Throws: `.refused(.logUnavailable)`; `.corrupt` when the log leads to the head from no base.
    func build(upTo head: LogHead) throws(StorageError) -> NewFile {
        // A base may be deleted while it is read; then there is a newer one.
        for _ in 0..<2 {
            for base in try log.bases(of: realm) where base.lineage == head.lineage && base.version <= head.version {
                let file = try NewFile(nextTo: path)
                if try make(file, of: base, upTo: head) { return file }
            }
        }
        throw noBase(head)
    }

    /// The error for a log that leads to a head from no base.
    private func noBase(_ head: LogHead) -> StorageError {
        .corrupt(ref: .none, reason: "the log of '\(realm)' has no sound base that leads to version \(head.version)")
    }

    /// Makes a file from a base; false when the base is damaged, or records after it are missing.
    private func make(_ file: NewFile, of base: LogBase, upTo head: LogHead) throws(StorageError) -> Bool {
        do throws(StorageError) {
            guard try make(file, of: base, upTo: head, isAsWanted: { isAt(head, $0) }) else { return false }
            _ = try Snapshot(file: try RealmFile(path: file.openPath, key: key))
            return true
        } catch {
            if case .corrupt = error { return false }
            throw error
        }
    }

    /// Makes a file from a base and the records after it; false when what comes out is not as wanted.
    private func make(
        _ file: NewFile, of base: LogBase, upTo head: LogHead, isAsWanted: (RecordApplier) -> Bool
    ) throws(StorageError) -> Bool {
        try LogReplay.fetch(base, of: realm, from: log, into: file)
        let backend = try file.backend()
        defer { backend.close() }
        let applier = try makeApplier(backend, from: base, file)
        _ = try apply(to: applier, upTo: head, nil)
        guard isAsWanted(applier) else { return false }
        try applier.finish()
        return true
    }

    private func makeApplier(
        _ backend: any StorageBackend, from base: LogBase, _ file: NewFile
    ) throws(StorageError) -> RecordApplier {
        do throws(StorageError) {
            return try RecordApplier(backend, after: base.chain(of: realm), key: key, isUnshared: true)
        } catch {
            guard error.isAboutKey, key != nil, (try? RealmFile(path: file.openPath)) != nil else { throw error }
            throw .refused(.encryptionKeyWrong("a key is given for '\(realm)', which is not encrypted in its log"))
        }
    }

    /// Makes the file of an earlier version, for people who want it back.
    ///
    /// - Returns: The file, next to the path of the realm.
    /// - Throws: `.refused(.unsuitable)` when no base and no records lead to that version; `.corrupt` when all that do are damaged.
    package func restore(_ version: UInt64, of head: LogHead) throws(StorageError) -> NewFile {
        var wanted = head
        wanted.version = version
        var damage: StorageError?
        // A base, or records after it, may be deleted while they are read; then there is a newer one.
        for _ in 0..<2 {
            for base in try log.bases(of: realm) where base.lineage == head.lineage && base.version <= version {
                do throws(StorageError) {
                    let file = try NewFile(nextTo: path)
                    if try make(file, of: base, upTo: wanted, isAsWanted: { isAt(version, $0) }) { return file }
                    throw .refused(.unsuitable("the log of '\(realm)' does not lead to version \(version)"))
                } catch {
                    guard case .corrupt = error else { throw error }
                    damage = damage ?? error
                }
            }
        }
        throw damage ?? .refused(.unsuitable("the log of '\(realm)' does not lead to version \(version)"))
    }

    /// Whether an applier has made a version.
    private func isAt(_ version: UInt64, _ applier: RecordApplier) -> Bool {
        applier.version == version && applier.chain.version == version
    }

    /// Copies a base to an empty file, and compares it with its digest.
    ///
    /// - Throws: `.corrupt` when the digest is another one.
    static func fetch(
        _ base: LogBase, of realm: String, from log: any RealmLog, into file: NewFile
    ) throws(StorageError) {
        try log.fetch(base, of: realm, into: file.descriptor)
        guard try FileDigest.sha256(file.descriptor) == base.digest else {
            throw .corrupt(ref: .none, reason: "the base of version \(base.version) lacks the SHA-256 that the log states")
        }
    }
}

extension StorageError {
    /// Whether the file of a realm was found to be damaged.
    ///
    /// Files of a cluster have no other format, so one that seems to have is damaged as well.
    var isDamage: Bool {
        switch self {
        case .corrupt: return true
        case .refused(.unsound), .refused(.notARealm), .refused(.formatUnsupported): return true
        default: return false
        }
    }

    /// Whether the file of a realm may be damaged, or a key is missing or wrong: a plain file whose first bytes are gone seems to
    /// be encrypted, and an encrypted one whose first page is gone seems to have another key. The bases in the log show which
    /// case it is.
    var mayBeDamage: Bool { isDamage || isAboutKey }
}
