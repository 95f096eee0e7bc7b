// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Opens a realm in memory, to find out the result of opening and writing it: errors, mode and effects of
/// writes.
///
/// The file and the names beside it are read; nothing is made, locked or changed.
extension Database {
    /// Opens a file as `open` would, but with all writes in memory.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - path: The file that would be opened.
    ///   - seed: The file that would be copied to `path` first; nil when `path` itself would be opened.
    ///   - options: How it would be opened.
    /// - Throws: `StorageError`: the error that `open` would throw.
    package static func rehearse(
        name: RealmName, path: String, seed: String? = nil, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        let rehearsal = Rehearsal(name: name, path: path, seed: seed, options: options)
        switch options.mode {
        case .readWrite: return try rehearsal.forWriting()
        case .readOnly: return try rehearsal.forReading(nil)
        case .copy: return try rehearsal.copy()
        case .follow: return try rehearsal.following()
        case nil:
            do throws(StorageError) {
                return try rehearsal.forWriting()
            } catch {
                guard let reason = reasonToRead(error), seed == nil || !error.isUnsound else { throw error }
                return try rehearsal.forReading(reason)
            }
        }
    }

    /// The opening of a file in memory, with the parameters that a real opening would have.
    private struct Rehearsal {
        /// The name of the realm.
        let name: RealmName
        /// The file that would be opened.
        let path: String
        /// The file that a copy would be made of first; nil when the file itself would be opened.
        let seed: String?
        /// The options with which the file would be opened.
        let options: OpenOptions

        /// The path of the file that is read: the seed if there is one, otherwise the realm's file.
        private var source: String { seed ?? path }

        /// Opens the file as for writing; throws the error that prevents it.
        func forWriting() throws(StorageError) -> Database {
            var store = options.store
            let original = KeptOriginal()
            if options.upgradesInPlace {
                store.converts = .olderFormats
                let copies = FileCopies(ofFile: path, key: options.key)
                store.willConvert = { [keptCopyCount = options.keptCopyCount] _, format throws(StorageError) in
                    if keptCopyCount > 0 { original.set(try copies.freeName(.upgrade(format: format))) }
                }
            }
            guard let seed else {
                return serve(try FileStore.rehearse(path: path, key: options.key, store), .readWrite, original.name)
            }
            try OwnershipLock.check(ofFile: options.isExactPath ? path : try System.resolved(path))
            return serve(try FileStore.rehearse(copyOf: seed, key: options.key, store), .readWrite, original.name)
        }

        /// Throws `.refused(.unsound)` for a seed that is damaged, of which no copy is made in any mode.
        private func requireSoundSeed() throws(StorageError) {
            guard let seed else { return }
            do throws(StorageError) {
                try FileStore.rehearse(copyOf: seed, key: options.key, options.store).close()
            } catch {
                // A copy that can only be read is served all the same.
                if error.isUnsound { throw error }
            }
        }

        /// Opens the file as for reading.
        ///
        /// - Parameter reason: Why it cannot be written; nil when reading was requested.
        func forReading(_ reason: StorageError?) throws(StorageError) -> Database {
            try requireSoundSeed()
            let place = options.isExactPath ? source : try System.resolved(source)
            let snapshot = try Snapshot(file: try RealmFile(path: place, key: options.key, isExact: true))
            if seed == nil { try OwnershipLock.requireUnused(place) }
            return Database(
                name: name, path: path, mode: .readOnly, snapshot: snapshot, store: nil, readOnlyReason: reason,
                backlinkNames: options.backlinkNames, shownClasses: options.shownClasses)
        }

        /// Opens the file as one that is followed, without following it.
        func following() throws(StorageError) -> Database {
            try requireSoundSeed()
            let place = options.isExactPath ? source : try System.resolved(source)
            let snapshot = try Snapshot(file: try RealmFile(path: place, key: options.key, isExact: true))
            return Database(
                name: name, path: path, mode: .follow, snapshot: snapshot, store: nil, backlinkNames: options.backlinkNames,
                shownClasses: options.shownClasses)
        }

        /// Opens the file as a private copy.
        func copy() throws(StorageError) -> Database {
            var store = options.store
            store.converts = [.olderFormats, .synchronized]
            return serve(try FileStore.rehearse(copyOf: source, key: options.key, store), .copy)
        }

        /// Makes a database for a store in memory.
        private func serve(_ store: FileStore, _ mode: Mode, _ originalName: String? = nil) -> Database {
            let database = Database(
                name: name, path: path, mode: mode, snapshot: store.current, store: store, originalName: originalName,
                limits: options.limits, backlinkNames: options.backlinkNames, shownClasses: options.shownClasses,
                observation: options.observation)
            database.startWriter()
            return database
        }
    }
}
