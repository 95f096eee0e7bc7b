// SPDX-License-Identifier: Apache-2.0

internal import RealmLegacy
package import RealmPlatform
package import RealmStorage
internal import RealmVerify

extension Database {
    /// Checks that the file of a realm that cannot be opened is not a sound one under another key.
    ///
    /// Another file may take the place of one that is damaged. A file whose key is unknown is not damaged; replaced
    /// under a wrong key, it could not be put back.
    ///
    /// - Parameters:
    ///   - path: The file, which is not changed; it need not exist.
    ///   - key: The key that is known for it; nil for a plain file.
    /// - Throws: `StorageError`: `.refused(.encryptionKeyRequired)` or `.refused(.encryptionKeyWrong)`.
    /// - Complexity: Reads 1 MiB at most.
    package static func requireKnownKey(ofFile path: String, _ key: EncryptionKey?) throws(StorageError) {
        do throws(StorageError) {
            _ = try RealmFile(path: path, key: key)
        } catch {
            switch error {
            case .refused(.encryptionKeyRequired), .refused(.encryptionKeyWrong):
                // A plain file of a realm with a key is sound, too.
                if key != nil, (try? RealmFile(path: path, accepting: FileHeader.knownFormats)) != nil { throw error }
                if try EncryptedAppearance.mayBeEncrypted(path, unlikeThoseOf: key) { throw error }
            default: return
            }
        }
    }

    /// Checks that a file can take the place of a realm's file: it opens with the options of the realm, and
    /// every node, object, link and index in it is sound.
    ///
    /// - Parameters:
    ///   - path: The file, which is not changed.
    ///   - options: How it will be opened, and what can cancel the check.
    /// - Returns: The newest version in the file.
    /// - Throws: `StorageError`: the error that opening it would throw, `.corrupt` with the first damage, or the error of the
    ///   control.
    /// - Complexity: O(size of the file).
    package static func requireReplacement(_ path: String, _ options: OpenOptions) throws(StorageError) -> Snapshot {
        if let old = try requireOldReplacement(path, options) { return old }
        let file = try RealmFile(path: path, key: options.key)
        guard file.fileByteCount > 0 else {
            throw .refused(.notARealm("a file of 0 bytes is no Realm file; it may be an interrupted copy"))
        }
        let snapshot = try Snapshot(file: file)
        let report = try snapshot.verify(options.control ?? WorkControl())
        if let first = report.errors.first { throw .corrupt(ref: snapshot.top.ref, reason: first) }
        var store = options.store
        store.verification = .always
        store.isExactPath = false
        if options.upgradesInPlace { store.converts = .olderFormats }
        do throws(StorageError) {
            try FileStore.dryRun(copyOf: path, key: options.key, store).close()
        } catch {
            if case .refused(.unsound) = error { throw error }
            // Without a mode such a file is served for reading, as it would be if it were attached.
            guard options.mode == nil, reasonToRead(error) != nil else { throw error }
        }
        return snapshot
    }

    /// Checks a file of formats 2 to 9 that is to take the place of a realm's file, which is served as a private copy then, or upgraded.
    ///
    /// - Returns: Its conversion; nil for a file of another format.
    private static func requireOldReplacement(_ path: String, _ options: OpenOptions) throws(StorageError) -> Snapshot? {
        guard let old = try LegacyFile.open(path: path, key: options.key) else { return nil }
        if let first = try old.verify(options.control).errors.first { throw .corrupt(ref: .none, reason: first) }
        guard options.mode != .readWrite || options.upgradesInPlace else {
            throw .refused(.formatNotWritable(found: old.format))
        }
        return try ConvertedFile.open(path: path, key: options.key, options.control)?.snapshot(key: options.key)
    }

    /// Opens a file in memory that would take the place of a realm's file, and that was checked before.
    ///
    /// - Parameters:
    ///   - path: The file, which is not changed.
    ///   - place: The path under which the file would be opened.
    ///   - options: How it would be opened.
    /// - Returns: The realm as it would be, apart from its epoch. The caller closes it.
    /// - Throws: `StorageError`: the error that opening it would throw.
    package static func dryRun(
        replacement path: String, of name: RealmName, at place: String, _ options: OpenOptions
    ) throws(StorageError) -> Database {
        var store = options.store
        store.isExactPath = false
        if options.upgradesInPlace { store.converts = .olderFormats }
        let converted = try ConvertedFile.open(path: path, key: options.key, options.control)
        let shadow: FileStore
        do throws(StorageError) {
            shadow = try FileStore.dryRun(copyOf: converted?.path ?? path, key: options.key, store)
        } catch {
            guard options.mode == nil, let reason = reasonToRead(error) else { throw error }
            return Database(
                name: name, path: place, mode: .readOnly,
                snapshot: try Snapshot(file: try RealmFile(path: converted?.path ?? path, key: options.key)), store: nil,
                readOnlyReason: reason, backlinkNames: options.backlinkNames, shownClasses: options.shownClasses,
                conversion: converted?.report)
        }
        let database = Database(
            name: name, path: place, mode: converted == nil || options.upgradesInPlace ? .readWrite : .copy,
            snapshot: shadow.current, store: shadow, limits: options.limits,
            backlinkNames: options.backlinkNames, shownClasses: options.shownClasses, observation: options.observation,
            conversion: converted?.report)
        database.startWriter()
        return database
    }
}
