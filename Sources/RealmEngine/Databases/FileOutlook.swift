// SPDX-License-Identifier: Apache-2.0

package import RealmLegacy
package import RealmPlatform
package import RealmStorage

/// The way in which a server would open a file, predicted from the file, its folder and the options of the realm.
///
/// The audit of its space is left to the opening.
package enum FileOutlook: Sendable, Equatable {
    case written
    /// It is upgraded in place, then read and written.
    case upgraded
    /// It is only read, for the reason stated; nil when its mode is `ro`.
    case onlyRead(StorageError?)
    /// A private copy of it is read and written.
    case copied
    /// It is followed: its versions are read as another program writes them.
    case followed
    /// A private copy of it in the written format is served in a mode.
    case converted(Database.Mode)
    /// It is not served, for the reason stated.
    case refused(StorageError)

    /// Predicts how a file of format 10 or later is opened. Nothing is locked or made.
    ///
    /// - Parameters:
    ///   - snapshot: The newest version of the file.
    ///   - path: Its path without symbolic links.
    ///   - options: How the realm is opened.
    package static func ofOpening(_ snapshot: Snapshot, at path: String, _ options: Database.OpenOptions) -> FileOutlook {
        switch options.mode {
        case .copy?: return .copied
        case .follow?: return .followed
        case .readOnly?, .readWrite?, nil: break
        }
        do throws(StorageError) { try OwnershipLock.requireUnused(path) } catch { return .refused(error) }
        if options.mode == .readOnly { return .onlyRead(nil) }
        let reason = hindrance(toWriting: snapshot, at: path, upgradesInPlace: options.upgradesInPlace)
        guard let reason else { return snapshot.file.header.isOutdated ? .upgraded : .written }
        return options.mode == nil ? .onlyRead(reason) : .refused(reason)
    }

    /// Predicts how a file of formats 2 to 9 is opened. Nothing is locked or made.
    ///
    /// - Parameters:
    ///   - path: Its path without symbolic links.
    ///   - options: How the realm is opened.
    package static func ofOpening(_ old: LegacyFile, at path: String, _ options: Database.OpenOptions) -> FileOutlook {
        if let mode = options.mode, mode != .readWrite { return .converted(mode) }
        guard options.upgradesInPlace else {
            return options.mode == nil ? .converted(.copy) : .refused(.refused(.formatNotWritable(found: old.format)))
        }
        do throws(StorageError) { try OwnershipLock.requireUnused(path) } catch { return .refused(error) }
        guard let reason = hindrance(toUpgrading: old, at: path) else { return .upgraded }
        return options.mode == nil ? .onlyRead(reason) : .refused(reason)
    }

    /// Returns why a file would only be read; nil when nothing speaks against writing.
    private static func hindrance(toWriting snapshot: Snapshot, at path: String, upgradesInPlace: Bool) -> StorageError? {
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
    ///   - path: Its path without symbolic links.
    static func hindrance(toUpgrading old: LegacyFile, at path: String) -> StorageError? {
        do throws(StorageError) {
            try old.top?.requireWritableHistory()
            try FileStore.requireOwnable(path)
            try System.requireWritableFolder(of: path)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the mode in which the file is served.
    ///
    /// - Throws: The reason why it is not served.
    package func servedMode() throws(StorageError) -> Database.Mode {
        switch self {
        case .written, .upgraded: return .readWrite
        case .onlyRead: return .readOnly
        case .copied: return .copy
        case .followed: return .follow
        case .converted(let mode): return mode
        case .refused(let reason): throw reason
        }
    }

    /// The outlook on a server that is for reading only.
    var onlyReading: FileOutlook {
        switch self {
        case .written, .upgraded, .copied: return .onlyRead(nil)
        case .converted(let mode): return .converted(mode.onlyReading)
        case .onlyRead, .followed, .refused: return self
        }
    }

    /// The mode in which the file is served; nil for none.
    package var mode: Database.Mode? { try? servedMode() }

    /// Why the file is only read although writing was not excluded; nil for all other files.
    package var readOnlyReason: StorageError? {
        guard case .onlyRead(let reason) = self else { return nil }
        return reason
    }

    /// The action of a server, as the end of a sentence that begins with `when served:`.
    package var text: String {
        let format = FileHeader.writtenFormat
        switch self {
        case .written: return "read and written"
        case .upgraded: return "upgraded in place to format \(format), then read and written"
        case .onlyRead(let reason?): return "only read: \(reason)"
        case .onlyRead(nil): return "only read"
        case .copied: return "a private copy that is read and written; the file is not changed"
        case .followed: return "only read, anew after each write of another program"
        case .converted(.follow):
            return "a private copy that is converted to format \(format), anew after each write of another program"
        case .converted(.readOnly):
            return "a private copy that is converted to format \(format) and only read; the file is not changed"
        case .converted: return "a private copy that is converted to format \(format); the file is not changed"
        case .refused(let reason): return "refused: \(reason)"
        }
    }

    /// How to fix it, in a sentence; nil when there is nothing to do, or the reason says it.
    package var advice: String? {
        let format = FileHeader.writtenFormat
        switch self {
        case .written, .upgraded, .onlyRead(nil), .copied, .followed: return nil
        case .converted(.copy):
            return
                "--upgrade in-place converts the file itself, after a backup; realm-rest upgrade FILE --to NEW makes a file of "
                + "format \(format)"
        case .converted: return "realm-rest upgrade FILE --to NEW makes a file of format \(format)"
        case .onlyRead(let reason?), .refused(let reason): return FileOutlook.advice(about: reason)
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

extension Database.Mode {
    /// The mode on a server that is for reading only.
    package var onlyReading: Database.Mode { self == .follow ? .follow : .readOnly }
}
