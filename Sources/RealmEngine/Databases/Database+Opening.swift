// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage
internal import Synchronization

extension Database {
    /// How a file is opened.
    package struct OpenOptions: Sendable {
        package var key: EncryptionKey?
        /// Nil chooses: for writing where format, permissions and file system allow it, else for reading.
        package var mode: Mode?
        /// Makes an empty file if there is none.
        package var createsMissingFile = false
        package var limits = WriteLimits()
        package var backlinkNames = BacklinkNames.none
        /// No write begins while more versions than this are being read.
        package var maximumVersionCount = 1000

        package init(key: EncryptionKey? = nil, mode: Mode? = nil) {
            self.key = key
            self.mode = mode
        }

        var store: FileStore.Options {
            var options = FileStore.Options()
            options.createsMissingFile = createsMissingFile
            options.maximumVersionCount = maximumVersionCount
            return options
        }
    }

    /// Opens the file at `path`. Throws `.refused` with the reason, or what reading it met.
    package static func open(name: RealmName, path: String, _ options: OpenOptions) throws(StorageError) -> Database {
        switch options.mode {
        case .readWrite: return try openForWriting(name, path, options)
        case .readOnly: return try Database(name: name, path: path, key: options.key, backlinkNames: options.backlinkNames)
        case .copy: return try openCopy(name, path, options)
        case nil:
            do throws(StorageError) {
                return try openForWriting(name, path, options)
            } catch {
                guard case .refused(let refusal) = error else { throw error }
                switch refusal {
                case .formatNotWritable, .synchronized, .unsuitable:
                    return try Database(name: name, path: path, key: options.key, backlinkNames: options.backlinkNames)
                default: throw error
                }
            }
        }
    }

    private static func openForWriting(
        _ name: RealmName, _ path: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        open(name: name, store: try FileStore.open(path: path, key: options.key, options.store), options)
    }

    /// A copy beside nothing of the user's: in the folder for temporary files, gone when the realm is closed.
    private static func openCopy(
        _ name: RealmName, _ path: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let copy = "\(folder)/realm-rest-\(RandomName.make()).realm"
        try FileCopy.copy(path, to: copy)
        do throws(StorageError) {
            let store = try FileStore.open(path: copy, key: options.key, options.store)
            let database = Database(
                name: name, path: path, mode: .copy, snapshot: store.current, store: store, temporaryPath: copy,
                limits: options.limits,
            backlinkNames: options.backlinkNames)
            database.startWriter()
            return database
        } catch {
            FileCopy.remove(copy)
            guard case .refused(.formatNotWritable) = error else { throw error }
            return try Database(name: name, path: path, key: options.key, backlinkNames: options.backlinkNames)
        }
    }

    /// An empty realm in memory.
    package static func openInMemory(
        name: RealmName, identifier: String, _ options: OpenOptions = OpenOptions()
    ) throws(StorageError) -> Database {
        let store = try FileStore.inMemory(options.store)
        let database = Database(
            name: name, path: "", mode: .readWrite, snapshot: store.current, store: store, memoryIdentifier: identifier,
            limits: options.limits,
            backlinkNames: options.backlinkNames)
        database.startWriter()
        return database
    }

    /// Serves a store that was opened elsewhere.
    package static func open(
        name: RealmName, store: FileStore, _ options: OpenOptions = OpenOptions()
    ) -> Database {
        let database = Database(
            name: name, path: store.path, mode: .readWrite, snapshot: store.current, store: store, limits: options.limits,
            backlinkNames: options.backlinkNames)
        database.startWriter()
        return database
    }

    // MARK: - Closing

    /// Does the writes that wait, rolls an interactive transaction back and lets go of the file. Blocks meanwhile, so
    /// it is for threads that may wait. Requests that hold snapshots go on.
    package func close() {
        let writer = queue.withLock { queue in
            defer { queue = nil }
            return queue
        }
        writer?.close()
        do throws(StorageError) { try store?.close() } catch {}
        if let temporaryPath {
            for suffix in ["", ".lock"] { FileCopy.remove(temporaryPath + suffix) }
        }
    }

    /// Deletes a closed realm's file and what belongs to it, except the lock file. Throws `.refused(.fileInUse)` when
    /// somebody else has it open by now.
    package func deleteFiles() throws(StorageError) {
        guard !path.isEmpty else { return }
        let lock = try OwnershipLock(ofFile: path)
        for suffix in ["", ".note", ".log", ".log_a", ".log_b", ".backup-log", ".tmp_compaction_space"] {
            FileCopy.remove(path + suffix)
        }
        rmdir(path + ".management")
        lock.release()
    }
}

/// Copies of files.
package enum FileCopy {
    /// Copies a file that nobody writes to meanwhile to one that must not exist, and makes it durable.
    package static func copy(_ source: String, to target: String) throws(StorageError) {
        let input = try System.openForReading(source)
        defer { System.close(input) }
        var left = try System.regularFileSize(input)
        let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw .io(operation: "open", errno: errno) }
        defer { System.close(output) }
        while left > 0 {
            let count = sendfile(output, input, nil, min(left, 1 << 30))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : EIO
                remove(target)
                throw .io(operation: "sendfile", errno: code)
            }
            left -= count
        }
        guard fsync(output) == 0 else {
            let code = errno
            remove(target)
            throw .io(operation: "fsync", errno: code)
        }
    }

    package static func remove(_ path: String) { unlink(path) }
}
