// SPDX-License-Identifier: Apache-2.0

internal import RealmLegacy
package import RealmPlatform
internal import RealmStorage

/// Opens a realm in memory, to find out the result of opening and writing it: errors, mode and effects of writes.
///
/// The file and the names next to it are read; nothing is made, locked or changed.
extension Database {
    /// Opens a file as `open` would, but with all writes in memory.
    ///
    /// - Parameters:
    ///   - path: The file that would be opened.
    ///   - seed: The file that would be copied to `path` first; nil when `path` itself would be opened.
    ///   - options: How it would be opened.
    /// - Throws: `StorageError`: the error that `open` would throw.
    package static func dryRun(
        name: RealmName, path: String, seed: String? = nil, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        let dryRun = DryRun(name: name, path: path, seed: seed, options: options)
        switch options.mode {
        case .readWrite: return try dryRun.forWriting()
        case .readOnly: return try dryRun.forReading(nil)
        case .copy: return try dryRun.copy()
        case .follow: return try dryRun.following()
        case nil:
            do throws(StorageError) {
                return try dryRun.forWriting()
            } catch {
                guard let reason = reasonToRead(error), seed == nil || !error.isUnsound else { throw error }
                if case .refused(.formatNotWritable(let found)) = error, LegacyFile.reads(format: found) {
                    return try dryRun.copy()
                }
                return try dryRun.forReading(reason)
            }
        }
    }

    /// The opening of a file in memory, with the parameters that a real opening would have.
    private struct DryRun {
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
            let place = options.isExactPath ? path : try System.resolved(path)
            guard let seed else {
                if let format = try Database.oldFormat(of: place, options) { return try converting(format, at: place, store) }
                return serve(try FileStore.dryRun(path: path, key: options.key, store), .readWrite, original.name)
            }
            try OwnershipLock.check(ofFile: place)
            // A seed of an old format is converted when it is copied.
            let converted = try converted(seed)
            store.isExactPath = converted == nil && store.isExactPath
            let opened = try FileStore.dryRun(copyOf: converted?.path ?? seed, key: options.key, store)
            return serve(opened, .readWrite, original.name, conversion: converted?.report)
        }

        /// Opens the conversion that would replace a file of formats 2 to 9.
        ///
        /// - Parameters:
        ///   - place: Its path without symbolic links.
        ///   - options: How it would be opened.
        private func converting(
            _ format: Int, at place: String, _ options: FileStore.Options
        ) throws(StorageError) -> Database {
            try OwnershipLock.check(ofFile: place)
            let copies = FileCopies(ofFile: place, key: self.options.key)
            let copy = self.options.keptCopyCount > 0 ? try copies.freeName(.upgrade(format: format)) : nil
            guard let converted = try converted(place) else { throw .refused(.fileChanged("the file was replaced")) }
            var options = options
            options.isExactPath = false
            let store = try FileStore.dryRun(copyOf: converted.path, key: self.options.key, options)
            return serve(store, .readWrite, copy, conversion: converted.report)
        }

        /// Converts a file of formats 2 to 9; nil for one of another format.
        private func converted(_ path: String) throws(StorageError) -> ConvertedFile? {
            try ConvertedFile.open(path: path, key: options.key, isExact: options.isExactPath, options.control)
        }

        /// Throws `.refused(.unsound)` for a seed that is damaged, of which no copy is made in any mode.
        private func requireSoundSeed() throws(StorageError) {
            guard let seed, try converted(seed) == nil else { return }
            do throws(StorageError) {
                try FileStore.dryRun(copyOf: seed, key: options.key, options.store).close()
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
            let (snapshot, conversion) = try Database.readable(place, options)
            if seed == nil, conversion == nil { try OwnershipLock.requireUnused(place) }
            return Database(
                name: name, path: path, mode: .readOnly, snapshot: snapshot, store: nil, readOnlyReason: reason,
                backlinkNames: options.backlinkNames, shownClasses: options.shownClasses, conversion: conversion)
        }

        /// Opens the file as one that is followed, without following it.
        func following() throws(StorageError) -> Database {
            try requireSoundSeed()
            let place = options.isExactPath ? source : try System.resolved(source)
            let (snapshot, conversion) = try Database.readable(place, options)
            return Database(
                name: name, path: path, mode: .follow, snapshot: snapshot, store: nil, backlinkNames: options.backlinkNames,
                shownClasses: options.shownClasses, conversion: conversion)
        }

        /// Opens the file as a private copy.
        func copy() throws(StorageError) -> Database {
            var store = options.store
            store.converts = [.olderFormats, .foreignHistories]
            let converted = try converted(source)
            store.isExactPath = converted == nil && store.isExactPath
            let report: ConversionReport? =
                if let converted { converted.report } else {
                    try Database.upgradeReport(of: source, options.key, isExact: options.isExactPath)
                }
            let opened = try FileStore.dryRun(copyOf: converted?.path ?? source, key: options.key, store)
            return serve(opened, .copy, conversion: report)
        }

        /// Makes a database for a store in memory.
        private func serve(
            _ store: FileStore, _ mode: Mode, _ originalName: String? = nil, conversion: ConversionReport? = nil
        ) -> Database {
            let database = Database(
                name: name, path: path, mode: mode, snapshot: store.current, store: store, originalName: originalName,
                limits: options.limits, backlinkNames: options.backlinkNames, shownClasses: options.shownClasses,
                observation: options.observation, conversion: conversion)
            database.startWriter()
            return database
        }
    }
}
