// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage
internal import RealmVerify

/// Copies of whole versions in a log, and the records that need not be kept once there are newer ones.
package enum LogBases {
    /// Copies a version to a file without a name.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - chain: The place in the chain that the version has.
    ///   - key: The key of an encrypted realm, with which the copy is encrypted; nil for a plain one.
    /// - Returns: The description of the copy, and its file, which the caller closes.
    package static func copy(
        _ snapshot: Snapshot, at chain: RecordChain, key: EncryptionKey? = nil
    ) throws(StorageError) -> (base: LogBase, descriptor: Int32) {
        guard let checksum = LogChecksum(chain.checksum) else { throw .io(operation: "digest", errno: 5) }
        let descriptor = try NewFile.withoutName(inFolder: System.temporaryFolder)
        do throws(StorageError) {
            let backend = try FileBackend(descriptor: try System.duplicate(descriptor))
            try BaseCopy.write(snapshot, to: backend, key: key)
            let base = LogBase(
                lineage: chain.epoch, version: chain.version, checksum: checksum,
                digest: try FileDigest.sha256(descriptor), byteCount: backend.byteCount)
            return (base, descriptor)
        } catch {
            System.close(descriptor)
            throw error
        }
    }

    /// Deletes what need not be kept: bases but the newest ones, and records up to the oldest base that is kept.
    ///
    /// The bases that are kept are read back first, and opened; one that is damaged is not counted, and is deleted with the
    /// superfluous ones. So there is always a sound base with all records after it.
    ///
    /// - Parameters:
    ///   - lineage: The lineage in the head.
    ///   - key: The key of an encrypted realm; nil for a plain one.
    ///   - count: The number of sound bases to keep, at least one.
    /// - Returns: The version up to which records were deleted; nil when there are not so many sound bases.
    package static func prune(
        _ realm: String, lineage: String, _ log: any RealmLog, key: EncryptionKey? = nil, keeping count: Int = 2
    ) throws(StorageError) -> UInt64? {
        let bases = try log.bases(of: realm)
        var kept: [LogBase] = []
        for base in bases where base.lineage == lineage && kept.count < max(1, count) {
            if try isSound(base, of: realm, log, key) { kept.append(base) }
        }
        guard let oldest = kept.last, kept.count >= max(1, count) else { return nil }
        for base in bases where !kept.contains(base) { try log.remove(base, of: realm, whileLineage: lineage) }
        try log.prune(realm, lineage: lineage, upTo: oldest.version)
        return oldest.version
    }

    /// Whether a base can be read back, has its digest, and is a sound file of its version.
    private static func isSound(
        _ base: LogBase, of realm: String, _ log: any RealmLog, _ key: EncryptionKey?
    ) throws(StorageError) -> Bool {
        let file = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
        do throws(StorageError) {
            try LogReplay.fetch(base, of: realm, from: log, into: file)
            let snapshot = try Snapshot(file: try RealmFile(path: file.openPath, key: key))
            return snapshot.version == base.version && snapshot.verify().isClean
        } catch {
            if case .corrupt = error { return false }
            throw error
        }
    }
}
