// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmLegacy
package import RealmPlatform
internal import RealmStorage

/// The state of a realm that is not open, read from its file.
package struct ClosedFacts: Sendable {
    /// The newest version of the file, with the classes that the realm shows; nil for a file of formats 2 to 9 without a kept conversion.
    package let version: Version?
    /// Such a file.
    package let old: LegacyFile?
    /// Whether the next opening gives the version the same token, unless the file changes before.
    package let keepsToken: Bool
    /// The mode in which the realm is opened, unless the audit of its file finds damage.
    package let mode: Database.Mode
    /// The reason why the file is only read although writing was not excluded; nil for all other realms.
    package let readOnlyReason: StorageError?
    /// Whether the file is encrypted.
    package let isEncrypted: Bool
    /// The file format; for an empty file the format of new files.
    package let fileFormat: Int
    /// The length of the file in bytes.
    package let fileBytes: Int
    /// The number of bytes of the file that are in use; nil when it is not known.
    package let usedBytes: Int?
}

extension ClosedRealm {
    /// Reads the content of the file without opening the realm: nothing is locked, written or kept.
    ///
    /// Blocks while the file is read.
    ///
    /// - Throws: `StorageError`: the reason why opening the realm would fail; `.refused(.fileChanged)` when the file changed in
    ///   the meantime.
    package func readFacts() throws(StorageError) -> ClosedFacts {
        let before = try? System.facts(path: path)
        do throws(StorageError) {
            return try read(try openOptions())
        } catch {
            if case .refused = error { throw error }
            // The facts may be of two versions.
            guard before == (try? System.facts(path: path)) else { throw .refused(.fileChanged("the file is being written to")) }
            throw error
        }
    }

    /// Describes the file, also when the realm cannot be opened.
    package func inspect() throws(StorageError) -> FileInspection {
        try FileInspection(path: path, (try? openOptions()) ?? Database.OpenOptions())
    }

    /// Reads the newest version of the file.
    private func read(_ options: Database.OpenOptions) throws(StorageError) -> ClosedFacts {
        let place = options.isExactPath ? path : try System.resolved(path)
        if let old = try LegacyFile.open(path: place, key: options.key, isExact: true, countsRows: false) {
            return try read(old, at: place, options)
        }
        let whole = try Snapshot(file: try RealmFile(path: place, key: options.key, isExact: true))
        let outlook = FileOutlook.ofOpening(whole, at: place, options)
        let mode = try outlook.servedMode()
        let snapshot = options.shownClasses?.part(of: whole) ?? whole
        let token = VersionToken(epoch: options.former?.epoch ?? Epoch(), version: options.former?.version ?? whole.version)
        return ClosedFacts(
            version: Version(snapshot, token), old: nil, keepsToken: options.former != nil,
            mode: mode, readOnlyReason: outlook.readOnlyReason,
            isEncrypted: whole.file.isEncrypted, fileFormat: Database.fileFormat(of: whole), fileBytes: whole.file.fileByteCount,
            usedBytes: try? Database.usedBytes(whole))
    }

    /// Reads an old file, or the result of its conversion if that is kept. The next opening upgrades the file or serves a private copy.
    private func read(_ old: LegacyFile, at place: String, _ options: Database.OpenOptions) throws(StorageError) -> ClosedFacts {
        let outlook = FileOutlook.ofOpening(old, at: place, options)
        let mode = try outlook.servedMode()
        let whole = try? ConvertedFile.keptSnapshot(of: old, key: options.key)
        let version = whole.map { whole in
            let snapshot = options.shownClasses?.part(of: whole) ?? whole
            return Version(snapshot, VersionToken(epoch: Epoch(), version: whole.version))
        }
        return ClosedFacts(
            version: version, old: options.shownClasses == nil ? old : nil, keepsToken: false, mode: mode,
            readOnlyReason: outlook.readOnlyReason, isEncrypted: old.file.isEncrypted, fileFormat: old.format,
            fileBytes: old.file.fileByteCount,
            usedBytes: try? old.usedByteCount())
    }
}
