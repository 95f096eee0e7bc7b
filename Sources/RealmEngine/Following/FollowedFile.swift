// SPDX-License-Identifier: Apache-2.0

internal import RealmLegacy
package import RealmPlatform
package import RealmStorage
internal import SystemPackage

/// A file that another program writes, of which private copies are taken.
///
/// The file is never locked or changed. A commit writes to blocks only that are free in the version
/// before, and ends with a change of the header. So a copy that was made while neither the header nor the
/// version changed is one version, whatever else was being written.
///
/// One thread uses it at a time.
package struct FollowedFile {
    /// A copy of one version.
    package struct Copy {
        /// The version, in a file without a name that is gone with it.
        package let snapshot: Snapshot
        /// The number of bytes that were copied; 0 when the copy shares the blocks of the original.
        let copiedByteCount: Int
        /// Whether the file is the one of the copy before.
        fileprivate(set) var isSameFile: Bool
        /// The report of the conversion of a file of formats 2 to 9; nil for all others.
        let conversion: ConversionReport?
    }

    /// The file as it was when it was last looked at.
    private struct Sight: Equatable {
        /// The file that has the path.
        let identity: System.FileIdentity
        /// Its size in bytes.
        let byteCount: Int
        /// The bytes that change with each commit.
        let mark: [UInt8]
    }

    private let path: String
    /// The key of an encrypted file; nil for a plain one.
    private let key: EncryptionKey?
    /// Whether no symbolic link in the path is followed.
    private let isExact: Bool
    /// The mapping through which the file is looked at; nil before the first look, and when the file has become another one.
    private var live: RealmFile?
    /// The state of the file of which the last copy was taken.
    private var copied: Sight?

    /// The number of attempts to copy before the next look.
    private static let attempts = 10

    /// Prepares to follow a file; nothing is read yet.
    package init(path: String, key: EncryptionKey?, isExact: Bool) {
        self.path = path
        self.key = key
        self.isExact = isExact
    }

    /// Returns whether there is something that the last copy does not have. It costs some microseconds,
    /// whatever the size of the file.
    ///
    /// - Throws: `StorageError`: `.refused(.fileNotFound)` while the file is away, another one when it is
    ///   no realm.
    package mutating func hasChanged() throws(StorageError) -> Bool { try sight() != copied }

    /// Reads what identifies the present state of the file.
    private mutating func sight() throws(StorageError) -> Sight {
        let place = try present()
        if let live, place.byteCount == live.fileByteCount, live.witness?.identity == place.identity, !hasLostParts(live) {
            return Sight(identity: place.identity, byteCount: place.byteCount, mark: try live.liveMark())
        }
        live = nil
        let opened = try RealmFile(path: path, key: key, isExact: isExact, accepting: FileHeader.knownFormats)
        guard let identity = opened.witness?.identity else { throw .refused(.fileNotFound) }
        live = opened
        return Sight(identity: identity, byteCount: opened.fileByteCount, mark: try opened.liveMark())
    }

    /// Returns which file has the path, and its size.
    private func present() throws(StorageError) -> System.FilePlace {
        do throws(StorageError) {
            return try System.place(path: path)
        } catch {
            throw error.errno == .noSuchFileOrDirectory ? .refused(.fileNotFound) : error
        }
    }

    /// Returns whether the file was shortened while it was mapped.
    private func hasLostParts(_ file: RealmFile) -> Bool { file.witness?.loss.isSet ?? true }

    /// Takes a copy of the newest version.
    ///
    /// - Parameter control: States whether the work was cancelled.
    /// - Throws: `StorageError`: `.refused(.fileInUse)` when the file was written to in each attempt,
    ///   otherwise why the last one failed.
    package mutating func takeCopy(_ control: WorkControl? = nil) throws(StorageError) -> Copy {
        var failure = StorageError.refused(.fileInUse("another program keeps writing to the file, so it cannot be copied"))
        var pause = 0.001
        for attempt in 0..<FollowedFile.attempts {
            if attempt > 0 {
                Threads.sleep(seconds: pause)
                pause *= 2
            }
            try control?.check()
            do throws(StorageError) {
                let before = try sight()
                var copy = try copy(control, checksPages: attempt + 1 < FollowedFile.attempts)
                guard try sight() == before else { continue }
                copy.isSameFile = copied?.identity == before.identity
                copied = before
                return copy
            } catch {
                // A file that is away or being replaced may be complete a moment later.
                failure = error
                if case .refused(.encryptionKeyRequired) = error { throw error }
            }
        }
        throw failure
    }

    /// Copies the file as it is, and opens the copy.
    ///
    /// - Parameters:
    ///   - control: States whether the work was cancelled.
    ///   - checksPages: Whether the pages of an encrypted copy are checked. Without the check a page that was
    ///     being written is an error when it is read, as it is in a file that is damaged there.
    private func copy(_ control: WorkControl?, checksPages: Bool) throws(StorageError) -> Copy {
        let (file, copiedByteCount) = try FileCopy.cloneOrCopy(path, control, isExact: isExact)
        let opened = try RealmFile(path: file.openPath, key: key, accepting: FileHeader.knownFormats)
        let isOld = LegacyFile.reads(format: opened.header.fileFormat)
        let snapshot = isOld ? nil : try Snapshot(file: opened)
        if key != nil, checksPages { try FollowedFile.requireSoundPages(opened, control) }
        if let snapshot { return Copy(snapshot: snapshot, copiedByteCount: copiedByteCount, isSameFile: false, conversion: nil) }
        let new = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
        let report = try LegacyFile(opened, countsRows: true).convert(to: new, key: key, control)
        let converted = try Snapshot(file: try RealmFile(path: new.openPath, key: key))
        return Copy(snapshot: converted, copiedByteCount: copiedByteCount, isSameFile: false, conversion: report)
    }

    /// Checks that all pages of an encrypted file can be decrypted: pages are written whole, so one that
    /// was being written while it was copied is damaged.
    private static func requireSoundPages(_ file: RealmFile, _ control: WorkControl?) throws(StorageError) {
        for page in 0..<file.pageCount {
            if page % 1024 == 0 { try control?.check() }
            if case .damaged = try file.state(ofPage: page) {
                throw .corrupt(ref: .none, reason: "page \(page) was being written while it was copied")
            }
        }
    }
}
