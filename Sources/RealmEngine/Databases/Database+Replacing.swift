// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension Database {
    /// Checks that a file can take the place of a realm's file: it opens with the options of the realm, and
    /// every node, object, link and index in it is sound.
    ///
    /// - Parameters:
    ///   - path: The file, which is not changed.
    ///   - options: How it will be opened.
    /// - Returns: The newest version in the file.
    /// - Throws: `StorageError`: what opening it would throw, or `.corrupt` with the first damage.
    /// - Complexity: O(size of the file).
    package static func requireReplacement(_ path: String, _ options: OpenOptions) throws(StorageError) -> Snapshot {
        let file = try RealmFile(path: path, key: options.key)
        guard file.fileByteCount > 0 else { throw .refused(.notARealm("a file of 0 bytes is no Realm file")) }
        let snapshot = try Snapshot(file: file)
        let report = snapshot.verify()
        if let first = report.errors.first { throw .corrupt(ref: snapshot.top.ref, reason: first) }
        var store = options.store
        store.verification = .always
        store.isExactPath = false
        if options.upgradesInPlace { store.converts = .olderFormats }
        do throws(StorageError) {
            try FileStore.rehearse(copyOf: path, key: options.key, store).close()
        } catch {
            if case .refused(.unsound) = error { throw error }
            // Without a mode such a file is served for reading, as it would be if it were attached.
            guard options.mode == nil, reasonToRead(error) != nil else { throw error }
        }
        return snapshot
    }
}
