// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A log of commits that keeps sealed records in memory, and refuses when it is told to.
package final class RecordedLog: CommitLog, @unchecked Sendable {
    package let maximumByteCount: Int
    /// The chain after the base.
    package let start: RecordChain
    /// The chain after the last record.
    package private(set) var end: RecordChain
    private var before: RecordChain
    /// The sealed records of the versions after the base.
    package private(set) var sealed: [[UInt8]] = []
    package private(set) var records: [CommitRecord] = []
    package private(set) var settled = 0
    package private(set) var replacements = 0
    /// Refuses the next record.
    package var refuses = false
    /// Called when a record was stored: the next write of the file is the byte that selects its version.
    package var didAppend: () -> Void = {}
    /// Whether what was stored survives without the file.
    package let isDurable: Bool
    /// The key with which records are encrypted.
    private let key: EncryptionKey?
    package var isEncrypted: Bool { key != nil }
    /// Whether a record that was stored can be removed again.
    package var takesBack = true

    package init(
        after version: UInt64, maximumByteCount: Int = .max, isDurable: Bool = false, key: EncryptionKey? = nil
    ) throws {
        self.key = key
        self.isDurable = isDurable
        self.maximumByteCount = maximumByteCount
        start = try RecordChain(realm: "test", epoch: "epoch123", base: version)
        end = start
        before = start
    }

    package func append(_ record: CommitRecord) throws(StorageError) {
        if refuses {
            refuses = false
            throw .io(operation: "append", errno: 5)
        }
        before = end
        sealed.append(try end.seal(record, key))
        records.append(record)
        didAppend()
    }

    package func takeBack(_ record: CommitRecord) -> Bool {
        guard takesBack else { return false }
        end = before
        sealed.removeLast()
        records.removeLast()
        return true
    }

    package func didCommit(_ record: CommitRecord) { settled += 1 }
    package func requireReplaceable() {}
    package func didReplaceFile() { replacements += 1 }

    /// All records, one after another.
    package var bytes: [UInt8] { sealed.flatMap { $0 } }
}

/// A file in memory that follows another one by its records.
package struct RecordFollower {
    package let backend: any StorageBackend
    package let applier: RecordApplier

    /// A copy of a version, and an applier for it.
    package init(_ base: Snapshot, _ chain: RecordChain, in backend: any StorageBackend) throws {
        self.backend = backend
        try BaseCopy.write(base, to: backend)
        applier = try RecordApplier(backend, after: chain)
    }

    /// What the copy has now, in a store of its own.
    package static func snapshot(
        of backend: any StorageBackend, clusterShift: Int = 8, key: EncryptionKey? = nil
    ) throws -> Snapshot {
        let memory = try backend.memory()
        var options = FileStore.Options()
        options.clusterShift = clusterShift
        let bytes = memory.view(at: 0, byteCount: backend.byteCount).array
        return try FileStore(MemoryBackend(bytes), key: key, options: options).current
    }

    package func snapshot(clusterShift: Int = 8) throws -> Snapshot {
        try RecordFollower.snapshot(of: backend, clusterShift: clusterShift)
    }
}
