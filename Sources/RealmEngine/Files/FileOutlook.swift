// SPDX-License-Identifier: Apache-2.0

package import RealmLegacy
package import RealmStorage

/// The way in which a server would open a file, predicted from the file and its folder.
///
/// The audit of its space is left to the opening.
package enum FileOutlook: Sendable, Equatable {
    /// It is read and written.
    case written
    /// It is only read, for the reason stated.
    case onlyRead(StorageError)
    /// A private copy of it in the written format is served.
    case converted
    /// It is not served, for the reason stated.
    case refused(StorageError)

    /// Returns why a file would only be read; nil when nothing speaks against writing. Nothing is locked or made.
    ///
    /// - Parameters:
    ///   - snapshot: The newest version of the file.
    ///   - path: Its path without symbolic links.
    ///   - upgradesInPlace: Whether files of older formats are upgraded.
    package static func hindrance(toWriting snapshot: Snapshot, at path: String, upgradesInPlace: Bool) -> StorageError? {
        do throws(StorageError) {
            // The reason that stays comes first: an upgrade would not change it.
            try snapshot.top.requireWritableHistory()
            guard upgradesInPlace || !snapshot.file.header.isOutdated else {
                throw .refused(.formatNotWritable(found: snapshot.fileFormat))
            }
            try FileStore.requireOwnable(path)
            try System.requireWritableFolder(of: path)
            return nil
        } catch {
            return error
        }
    }

    /// Returns why a file of formats 2 to 9 would not be upgraded in place; nil when it would. Nothing is locked or made.
    ///
    /// - Parameters:
    ///   - old: The file.
    ///   - path: Its path without symbolic links.
    package static func hindrance(toUpgrading old: LegacyFile, at path: String) -> StorageError? {
        do throws(StorageError) {
            guard !old.isSynchronized else { throw .refused(.synchronized) }
            try FileStore.requireOwnable(path)
            try System.requireWritableFolder(of: path)
            return nil
        } catch {
            return error
        }
    }

    /// The mode in which the file is served, as realms state it; nil for none.
    package var mode: String? {
        switch self {
        case .written: return "rw"
        case .onlyRead: return "ro"
        case .converted: return "copy"
        case .refused: return nil
        }
    }

    /// What a server does, as the end of a sentence that begins with `when served:`.
    package var text: String {
        switch self {
        case .written: return "read and written"
        case .onlyRead(let reason): return "only read: \(reason)"
        case .converted:
            return "a private copy that is converted to format \(FileHeader.writtenFormat); the file is not changed"
        case .refused(let reason): return "refused: \(reason)"
        }
    }

    /// What can be done about it, in a sentence; nil when there is nothing to do, or the reason says it.
    package var advice: String? {
        let format = FileHeader.writtenFormat
        switch self {
        case .written: return nil
        case .converted:
            return
                "--upgrade in-place converts the file itself, after a backup; realm-rest upgrade FILE --to NEW makes a file of "
                + "format \(format)"
        case .onlyRead(let reason), .refused(let reason): return FileOutlook.advice(about: reason)
        }
    }

    /// Returns what can be done about a reason.
    private static func advice(about reason: StorageError) -> String? {
        switch reason {
        case .refused(.formatNotWritable):
            return "--upgrade in-place upgrades the file, after a backup; mode 'copy' serves an upgraded private copy; "
                + "realm-rest upgrade FILE --to NEW makes a file of format \(FileHeader.writtenFormat)"
        case .refused(.synchronized):
            return "realm-rest copy FILE NEW --without-sync-tables makes a local realm of it"
        case .refused(.unsuitable): return "mode 'copy' serves a private copy, which can be written to"
        case .refused(.encryptionKeyRequired): return "--key-file FILE gives a command the key, --key NAME=FILE a server"
        case .refused(.notARealm), .refused(.formatUnsupported), .refused(.fileInUse): return nil
        case .corrupt: return "copy the file again if it was copied, or restore a backup; realm-rest verify FILE says more"
        default: return nil
        }
    }
}
