// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Compaction of a realm that is being served.
extension Database {
    /// The result of a compaction.
    package struct Compacted: Sendable {
        /// The size of the file in bytes before.
        package let before: Int
        /// Its size in bytes afterwards.
        package let after: Int
        /// The version that the file has, in the new file.
        package let version: Version
    }

    /// The number of times that a copy follows the writer before writes have to wait.
    private static let rounds = 8
    /// The number of bytes that may be left to copy when writes have to wait.
    private static let restBytes = 1 << 20

    /// Replaces the file by one without free space, in the same epoch.
    ///
    /// A copy is made while reads and writes go on. The writer is paused only to bring it up to date, and
    /// to give it the name of the file. Versions that are being read are read from the old file, which
    /// disappears with the last of them. After an error the old file is still in use.
    ///
    /// Copying blocks, so the call belongs on a thread that may wait.
    ///
    /// - Parameters:
    ///   - wait: The longest time to wait for the writer, when the copy is complete.
    ///   - ifVersion: The version that must be the newest one still when the file is replaced; nil accepts any.
    ///   - control: Gets the progress, and can cancel the copy.
    ///   - completion: Receives the sizes, or an error: `readOnly`, `overloaded` when the file is being
    ///     compacted already, `preconditionFailed`, one of the writer, or one of storage. It is called on the writer's thread,
    ///     or on the caller's after an error.
    package func compact(
        wait: Duration, ifVersion: UInt64? = nil, _ control: WorkControl? = nil,
        completion: @escaping @Sendable (Result<Compacted, WriteError>) -> Void
    ) {
        guard let store, isWritable, writerElsewhere == nil else { return completion(.failure(notWriting)) }
        guard !isCompacting.exchange(true, ordering: .acquiringAndReleasing) else {
            return completion(.failure(Database.beingCompacted))
        }
        let before = current.snapshot.file.fileByteCount
        let copy: CompactCopy
        do throws(StorageError) {
            copy = try copyForCompaction(store, control)
        } catch {
            isCompacting.store(false, ordering: .releasing)
            return completion(.failure(WriteError(error)))
        }
        write(
            WriteRequest(deadline: Instant.now().adding(wait), ifVersion: ifVersion, isAlone: true),
            { [self] session in use(try session.transaction.replaceFile(by: copy), copy.file) },
            completion: { [self] result in
                isCompacting.store(false, ordering: .releasing)
                completion(
                    result.map { receipt in
                        let after = receipt.value.snapshot.file.fileByteCount
                        log.compacted(before: before, after: after)
                        return Compacted(before: before, after: after, version: receipt.value)
                    })
            })
    }

    /// Whether the realm is to be compacted while it is served.
    package var compactsItself: Bool { isWritable && writerElsewhere == nil && source?.options.autoCompaction != nil }

    /// Whether the options of the realm ask for a compaction now, because enough of the file is free.
    ///
    /// - Complexity: Linear in the number of free blocks.
    package var wantsCompaction: Bool {
        guard isWritable, let conditions = source?.options.autoCompaction else { return false }
        return (try? conditions.wants(current.snapshot)) ?? false
    }

    /// The error for a second compaction at the same time.
    private static let beingCompacted: WriteError = {
        var error = WriteError(.overloaded, "this realm is being compacted already")
        error.retryAfter = .seconds(1)
        return error
    }()

    /// Copies the newest version, and follows the writer until little is left to copy.
    private func copyForCompaction(_ store: FileStore, _ control: WorkControl?) throws(StorageError) -> CompactCopy {
        let copy = try store.makeCompactCopy(control)
        try copy.sync()
        for _ in 0..<Database.rounds {
            let written = try copy.follow(current.snapshot)
            // What is durable now need not be waited for while the writer is paused.
            try copy.sync()
            if written < Database.restBytes { break }
        }
        return copy
    }

    /// Makes the newest version in the new file the one that is served. Its token is the same as before.
    func use(_ snapshot: Snapshot, _ file: NewFile?) -> Version {
        let version = Version(shown(snapshot), VersionToken(epoch: epoch, version: snapshot.version))
        let previous = newest.withLock { newest in
            defer { newest = version }
            return newest
        }
        let oldFile = privateFile.withLock { privateFile in
            defer { if privateFile != nil { privateFile = file } }
            return privateFile
        }
        moveObservations(to: version)
        withExtendedLifetime((previous, oldFile)) {}
        return version
    }
}
