// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage
internal import Synchronization

/// Copies of a version as files of their own: backups, copies under another key, and parts of the classes.
extension Database {
    /// The contents and the protection of a copy.
    package struct CopyOptions: Sendable {
        /// The key of the copy; nil writes a plain file.
        package var key: EncryptionKey?
        /// The classes that the copy has; nil for all of them.
        package var classes: ClassSubset?
        /// Whether the tables are left out that a sync client keeps for itself, such as those of its subscriptions.
        package var isWithoutSyncTables = false
        /// Gets the progress of the copy, and can cancel it.
        package var control: WorkControl?

        /// Makes options for a copy of all classes.
        ///
        /// - Parameters:
        ///   - key: The key of the copy; nil writes a plain file.
        ///   - classes: The classes that the copy has; nil for all of them.
        ///   - control: Gets the progress of the copy, and can cancel it.
        package init(key: EncryptionKey?, classes: ClassSubset? = nil, control: WorkControl? = nil) {
            self.key = key
            self.classes = classes
            self.control = control
        }
    }

    /// The key of the realm's file; nil for a plain one, and for a realm in memory.
    package var key: EncryptionKey? { source?.options.key }

    /// Writes a version as a file without free space, which holds no version of this realm afterwards.
    ///
    /// The copy has the format that this program writes, the same keys of objects, the same order and the same indexes. It blocks
    /// until the copy is durable, so it belongs on a thread that may wait. Writes to the realm continue.
    ///
    /// - Parameters:
    ///   - snapshot: The version, which may be the uncommitted state of a transaction.
    ///   - backend: The empty file to write to.
    /// - Throws: `StorageError` for a damaged file, a full disk, or a copy that was cancelled.
    package func writeCopy(
        of snapshot: Snapshot, to backend: any StorageBackend, _ options: CopyOptions
    ) throws(StorageError) {
        var options = options
        // Copies of a part lack what the part hides.
        options.classes = options.classes ?? snapshot.part.map { ClassSubset($0) }
        // A copy of an older format is converted first, in a private file.
        guard snapshot.fileFormat == FileHeader.writtenFormat || snapshot.top.tables.isNone else {
            var store = FileStore.Options()
            store.converts = [.olderFormats, .foreignHistories]
            store.control = options.control
            let file = try NewFile(nextTo: Database.temporaryPath)
            try FileCopy.copyConsistently(of: path, to: file, options.control)
            let converted = try FileStore(file, key: key, options: store)
            return try Database.writePart(converted.current, to: backend, options, key)
        }
        try Database.writePart(snapshot, to: backend, options, key)
    }

    /// The file whose bytes the realm reads and writes; nil for a realm in memory.
    private var bytesPath: String? {
        if let path = privateFile.withLock({ $0?.openPath }) { return path }
        return path.isEmpty || memoryIdentifier != nil ? nil : path
    }

    /// Whether the realm is in a file, which may hold a past.
    package var hasFile: Bool { bytesPath != nil }

    /// Copies the bytes of the file with its unused space to an open, empty file.
    ///
    /// - Parameters:
    ///   - isWriter: Whether the writer's thread calls, so that no commit runs. Another thread copies until the header stays.
    /// - Throws: `StorageError` when the file cannot be copied, or other programs keep writing to it.
    package func copyBytes(to target: Int32, isWriter: Bool, _ control: WorkControl?) throws(StorageError) {
        guard let source = bytesPath else { throw .refused(.fileNotFound) }
        guard isWriter else { return try FileCopy.copyConsistently(of: source, to: target, control) }
        try FileCopy.cloneOrCopy(source, to: target, control, isExact: false)
    }

    /// The copies next to the file of the realm; nil for a realm in memory and for private copies.
    package var siblingCopies: FileCopies? {
        if let copies { return copies }
        guard ownsOriginal, !path.isEmpty else { return nil }
        return FileCopies(ofFile: (try? System.resolved(path)) ?? path, key: key)
    }

    /// Makes a compact copy of a version next to the file, with the key of the realm. It has all classes of the file, also those
    /// that the realm does not show.
    ///
    /// - Parameters:
    ///   - snapshot: The version to copy.
    ///   - control: States whether copying was cancelled.
    /// - Returns: The name of the copy; nil when the realm has no file of its own.
    /// - Throws: `StorageError` when the copy cannot be written.
    package func makeSiblingCopy(of snapshot: Snapshot, _ control: WorkControl? = nil) throws(StorageError) -> String? {
        guard let copies = siblingCopies else { return nil }
        return try copies.make { backend throws(StorageError) in
            try writeCopy(of: snapshot.whole, to: backend, CopyOptions(key: key, control: control))
        }
    }

    /// Writes the wanted classes of a version in the present format. Without a choice of classes the
    /// version is copied as it is.
    private static func writePart(
        _ snapshot: Snapshot, to backend: any StorageBackend, _ options: CopyOptions, _ key: EncryptionKey?
    ) throws(StorageError) {
        guard options.classes != nil || options.isWithoutSyncTables else {
            return try SnapshotCopy.write(snapshot, to: backend, key: options.key, options.control)
        }
        let file = try NewFile(nextTo: temporaryPath)
        try SnapshotCopy.write(snapshot, to: file.backend(), key: key, options.control)
        let transaction = try FileStore(file, key: key).beginTransaction()
        try options.classes?.apply(to: transaction, transaction.base.classes, options.control)
        if options.isWithoutSyncTables { try SyncTables.remove(from: transaction) }
        try SnapshotCopy.write(transaction.view(), to: backend, key: options.key, options.control)
    }
}

/// The tables of sync clients in the file of a realm; only sync clients read them.
///
/// Source: realm-core, sync/noinst/sync_metadata_schema.cpp and the stores next to it.
enum SyncTables {
    /// The names of the tables, or their prefixes.
    private static let prefixes = ["flx_", "sync_internal_", "client_reset_"].map { Array($0.utf8) }

    private static func contain(_ table: Table) -> Bool {
        table.className == nil && prefixes.contains { table.name.utf8.starts(with: $0) }
    }

    /// Removes the tables from a copy of a realm. Tables of classes do not link to them.
    ///
    /// - Throws: `StorageError` for a damaged file, or when there is no room for the changes.
    static func remove(from transaction: WriteTransaction) throws(StorageError) {
        let tables = transaction.base.tables.filter(contain)
        for table in tables { try transaction.deleteAllObjects(in: table.key) }
        // Links first, so that no table is a target when it goes.
        for table in tables {
            for column in table.columns where column.type == .link { try transaction.removeColumn(column.key, of: table.key) }
        }
        for table in tables { try transaction.removeTable(table.key) }
    }
}

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
    /// A copy is made while reads and writes continue. The writer is paused only to bring it up to date, and to give it the name of
    /// the file. Readers of older versions keep the old file, which disappears with the last of them. After an error the old file is
    /// still in use.
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
            // The paused writer then waits for less to become durable.
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
