// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Opening a realm in memory, to find out what would become of it: refusals, mode, and whatever is written to it then.
///
/// The file is read, and so are the names beside it; nothing is made, locked or changed.
extension Database {
    /// As `open` would open the file at `path`; with a `seed`, as it would open a copy of that in the place of `path`.
    ///
    /// What is written to the realm stays in memory.
    package static func rehearse(
        name: RealmName, path: String, seed: String? = nil, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        let rehearsal = Rehearsal(name: name, path: path, seed: seed, options: options)
        switch options.mode {
        case .readWrite: return try rehearsal.forWriting()
        case .readOnly: return try rehearsal.forReading(nil)
        case .copy: return try rehearsal.copy()
        case nil:
            do throws(StorageError) {
                return try rehearsal.forWriting()
            } catch {
                guard let reason = reasonToRead(error) else { throw error }
                return try rehearsal.forReading(reason)
            }
        }
    }

    /// One opening in memory.
    private struct Rehearsal {
        /// The name that the realm would be served by.
        let name: RealmName
        /// The file that would be opened.
        let path: String
        /// The file that a copy would be made of first; nil when the file itself would be opened.
        let seed: String?
        /// What it would be opened with.
        let options: OpenOptions

        /// The file whose bytes would be read.
        private var source: String { seed ?? path }

        /// As the file would be opened for writing; throws what refuses that.
        func forWriting() throws(StorageError) -> Database {
            var store = options.store
            if options.upgradesInPlace { store.converts = .olderFormats }
            guard let seed else { return serve(try FileStore.rehearse(path: path, key: options.key, store), .readWrite) }
            try OwnershipLock.check(ofFile: options.isExactPath ? path : try System.resolved(path))
            return serve(try FileStore.rehearse(copyOf: seed, key: options.key, store), .readWrite)
        }

        /// As the file would be opened for reading, because of `reason` or because that was asked for.
        func forReading(_ reason: StorageError?) throws(StorageError) -> Database {
            let place = options.isExactPath ? source : try System.resolved(source)
            let snapshot = try Snapshot(file: try RealmFile(path: place, key: options.key, isExact: true))
            if seed == nil { try OwnershipLock.requireUnused(place) }
            return Database(
                name: name, path: path, mode: .readOnly, snapshot: snapshot, store: nil, readOnlyReason: reason,
                backlinkNames: options.backlinkNames)
        }

        /// As a private copy of the file would be opened.
        func copy() throws(StorageError) -> Database {
            var store = options.store
            store.converts = [.olderFormats, .synchronized]
            return serve(try FileStore.rehearse(copyOf: source, key: options.key, store), .copy)
        }

        /// A database over a store in memory.
        private func serve(_ store: FileStore, _ mode: Mode) -> Database {
            let database = Database(
                name: name, path: path, mode: mode, snapshot: store.current, store: store, limits: options.limits,
                backlinkNames: options.backlinkNames, observation: options.observation)
            database.startWriter()
            return database
        }
    }
}
