// SPDX-License-Identifier: Apache-2.0

internal import RealmLegacy
package import RealmPlatform
package import RealmStorage
internal import SystemPackage

/// The copies of a realm's file next to it: `<path>.before-<version>` before a migration, `<path>.v<format>.backup` before an
/// upgrade of the file format, `<path>.backup-<version>` on request, and `<path>.replaced-<version>` for a file that a restore
/// replaced.
///
/// Only files are recognized that contain the version or the format of their name; others with such a name belong to the user
/// and are left alone. A file that was replaced because it cannot be read is `<path>.replaced-damaged`.
package struct FileCopies: Sendable {
    /// The reason for which a copy was made.
    package enum Kind: Sendable, Equatable {
        /// Before a migration of the version with this number.
        case migration(version: UInt64)
        /// Before an upgrade from this file format.
        case upgrade(format: Int)
        case request(version: UInt64)
        /// The file that was served until another one was restored, with the number of its version;
        /// nil for one that cannot be read.
        case replaced(version: UInt64?)

        /// Returns whether both copies were made before the same kind of operation.
        fileprivate func isLike(_ other: Kind) -> Bool {
            switch (self, other) {
            case (.migration, .migration), (.upgrade, .upgrade), (.request, .request), (.replaced, .replaced): return true
            default: return false
            }
        }
    }

    /// One existing copy of the file, as `list` finds it.
    package struct Copy: Sendable, Equatable {
        /// The name of the copy without its folder.
        package let name: String
        /// The reason for which it was made.
        package let kind: Kind
        /// The number of the version in it; nil for a file that cannot be read, and for one of an old format that states none.
        package let version: UInt64?
        /// The format of the file; nil for a file whose header cannot be read.
        package let fileFormat: Int?
        /// Whether the newest version in the file cannot be read.
        package let isDamaged: Bool
        /// The length of the file in bytes.
        package let byteCount: Int
        /// The time of the last change of the file, in seconds and nanoseconds, by which copies are ordered.
        fileprivate let modified: [Int]

        /// The time of the last change of the file.
        package var time: WallClock { WallClock(nanoseconds: Int64(modified[0]) * 1_000_000_000 + Int64(modified[1])) }
    }

    /// The path of the realm's file, of which copies are made.
    private let path: String
    /// The key that opens the file and its copies; nil for a plain file.
    private let key: EncryptionKey?

    /// Describes the copies of a file.
    ///
    /// - Parameters:
    ///   - path: The resolved path of the file.
    ///   - key: Its key; nil for a plain file.
    package init(ofFile path: String, key: EncryptionKey?) {
        self.path = path
        self.key = key
    }

    /// The folder of the file, which also contains its copies.
    private var folder: String { System.folder(of: path) }
    /// The name of the file without its folder.
    private var fileName: String { String(path.split(separator: "/").last ?? "") }

    package func path(of name: String) -> String { folder == "/" ? "/" + name : folder + "/" + name }

    // MARK: - Making

    /// Copies the file as it is on the disk. If the name is used already, the copy gets a number.
    ///
    /// - Parameters:
    ///   - kind: The operation that follows.
    ///   - control: States whether copying was cancelled.
    /// - Returns: The name of the copy.
    /// - Throws: `StorageError` when the file cannot be copied, for example because the disk is full or
    ///   the file is written to all the time.
    func make(_ kind: Kind, _ control: WorkControl? = nil) throws(StorageError) -> String {
        let file = try NewFile(nextTo: path)
        try FileCopy.copyConsistently(of: path, to: file, control)
        return try named(kind) { name throws(StorageError) in try file.publish(as: path(of: name)) }
    }

    /// Makes a copy on request, of which the caller writes the bytes.
    ///
    /// Its name has the number of the version in it. That is not the number in the file if this one has an older format, because an
    /// upgrade is a commit.
    ///
    /// - Parameter write: Writes the copy to an empty file, with the key of the file; it gets its name when it is complete.
    /// - Returns: The name of the copy.
    /// - Throws: The error of `write`, or of the system that refuses the file.
    func make(_ write: (FileBackend) throws(StorageError) -> Void) throws(StorageError) -> String {
        let file = try NewFile(nextTo: path)
        try write(file.backend())
        let version = try Snapshot(file: try RealmFile(path: file.openPath, key: key)).version
        return try named(.request(version: version)) { name throws(StorageError) in try file.publish(as: path(of: name)) }
    }

    /// Calls a function with names for a copy until one of them is free.
    ///
    /// A name that is taken gets a number. A file that was replaced gets the number after the greatest one of such
    /// files in any case: of these the last is kept, so that no later file has the name of one that was removed.
    ///
    /// - Parameters:
    ///   - kind: The reason for the copy.
    ///   - give: Gives the name to the file; throws `.io` with `EEXIST` when it is used.
    /// - Returns: The name.
    func named(_ kind: Kind, _ give: (String) throws(StorageError) -> Void) throws(StorageError) -> String {
        let wanted = fileName + FileCopies.suffix(kind)
        let first = if case .replaced = kind { nextReplacedNumber } else { 1 as UInt64 }
        for number in first..<first + 1000 {
            let name = number == 1 ? wanted : "\(wanted)-\(number)"
            do throws(StorageError) {
                try give(name)
                return name
            } catch {
                guard error.errno == .fileExists else { throw error }
            }
        }
        throw .io(operation: "link", errno: Errno.fileExists.rawValue)
    }

    /// The number after the greatest one that a file which was replaced has; 1 when there is none.
    private var nextReplacedNumber: UInt64 {
        let names = (try? RealmFiles.names(in: folder)) ?? []
        let numbers = names.compactMap { name -> UInt64? in
            guard case .replaced? = kind(name) else { return nil }
            // The suffix after the version, if any.
            let parts = name.dropFirst((fileName + ".replaced-").count).split(separator: "-")
            return parts.count > 1 ? FileCopies.number(parts[1]) : 1
        }
        return (numbers.max().map { min($0, UInt64(UInt32.max)) } ?? 0) + 1
    }

    /// Returns the name that the file would get as a copy if another one took its place now.
    ///
    /// - Parameter version: The number of the version in the file; nil when it cannot be read.
    package func nameIfReplaced(version: UInt64?) throws(StorageError) -> String {
        try freeName(.replaced(version: version))
    }

    /// Returns the name that a copy would get now.
    func freeName(_ kind: Kind) throws(StorageError) -> String {
        try named(kind) { name throws(StorageError) in
            guard System.entry(atPath: path(of: name), followsLink: false) == nil else {
                throw .io(operation: "link", errno: Errno.fileExists.rawValue)
            }
        }
    }

    /// Returns the part of a copy's name that follows the name of the file.
    private static func suffix(_ kind: Kind) -> String {
        switch kind {
        case .migration(let version): return ".before-\(version)"
        case .upgrade(let format): return ".v\(format).backup"
        case .request(let version): return ".backup-\(version)"
        case .replaced(let version): return ".replaced-\(version.map { "\($0)" } ?? "damaged")"
        }
    }

    /// Removes the copy with the given name; a missing one is no error.
    package func remove(_ name: String) { System.remove(path(of: name)) }

    /// Has a copy take the place of the file, which has the same contents. If that fails, both stay. Only the owner of the file may call it.
    func putBack(_ name: String) {
        guard (try? System.rename(path(of: name), to: path)) != nil else { return }
        try? System.syncFolder(of: path)
    }

    // MARK: - Finding

    /// Returns all copies, the newest first.
    ///
    /// - Complexity: Opens each file whose name fits.
    package func list() -> [Copy] {
        guard let names = try? RealmFiles.names(in: folder) else { return [] }
        return names.compactMap(copy).sorted { right, left in left.modified.lexicographicallyPrecedes(right.modified) }
    }

    /// Returns the copy with the given name; nil when there is none, or the file is no copy of this file.
    package func copy(_ name: String) -> Copy? {
        guard let kind = kind(name), let entry = System.entry(atPath: path(of: name), followsLink: false),
            entry.isRegular, entry.linkCount == 1
        else { return nil }
        let file = try? RealmFile(path: path(of: name), key: key, isExact: false, accepting: FileHeader.knownFormats)
        let contents = file.flatMap { try? Contents($0) }
        let version = contents?.version
        switch kind {
        case .migration(let known), .request(let known): guard version == known else { return nil }
        case .replaced(let known): guard known == nil || version == known else { return nil }
        case .upgrade(let format): guard file?.header.fileFormat == format else { return nil }
        }
        return Copy(
            name: name, kind: kind, version: version, fileFormat: file?.header.fileFormat, isDamaged: contents == nil,
            byteCount: entry.byteCount, modified: [entry.modified.seconds, entry.modified.nanoseconds])
    }

    /// The contents of the newest version in a copy.
    private struct Contents {
        /// The number of the version; nil in a file of an old format that states none.
        let version: UInt64?

        /// Reads a file of any format.
        init(_ file: RealmFile) throws(StorageError) {
            guard LegacyFile.reads(format: file.header.fileFormat) else {
                version = try Snapshot(file: file).version
                return
            }
            version = try LegacyFile(file, countsRows: false).top?.statedVersion
        }
    }

    /// Returns the operation that the name of a copy states; nil for other names.
    private func kind(_ name: String) -> Kind? {
        guard name.hasPrefix(fileName + "."), name.utf8.count > fileName.utf8.count + 1 else { return nil }
        var rest = name.dropFirst(fileName.count + 1)
        for (word, kind) in FileCopies.numberedKinds where rest.hasPrefix(word) {
            rest = rest.dropFirst(word.count)
            let parts = rest.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 1 || FileCopies.number(parts[1]) != nil else { return nil }
            return kind(parts[0])
        }
        guard rest.hasPrefix("v"), let dot = rest.firstIndex(of: "."),
            let format = FileCopies.number(rest[rest.index(after: rest.startIndex)..<dot])
        else { return nil }
        let tail = rest[dot...]
        guard tail == ".backup" || tail.hasPrefix(".backup-") && FileCopies.number(tail.dropFirst(8)) != nil else { return nil }
        return .upgrade(format: Int(clamping: format))
    }

    /// The words after the name of the file, each with the kind of the text after it.
    private static let numberedKinds: [(String, @Sendable (Substring) -> Kind?)] = [
        ("before-", { number($0).map { .migration(version: $0) } }),
        ("backup-", { number($0).map { .request(version: $0) } }),
        ("replaced-", { $0 == "damaged" ? .replaced(version: nil) : number($0).map { .replaced(version: $0) } }),
    ]

    /// Returns the number that digits without leading zeros describe; nil for other texts.
    private static func number(_ text: Substring) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.first != "0" || text.utf8.count == 1
        else { return nil }
        return UInt64(text)
    }

    // MARK: - Removing

    /// Removes the oldest copies of one kind.
    ///
    /// - Parameters:
    ///   - count: The number of copies that remain.
    ///   - name: A copy of the kind, which remains in any case.
    package func prune(keeping count: Int, sparing name: String) {
        guard let kind = kind(name) else { return }
        let others = list().filter { $0.name != name && $0.kind.isLike(kind) }
        for copy in others.dropFirst(max(0, count - 1)) { remove(copy.name) }
    }

    /// Removes the name of a copy that the file itself has in addition to its own, because a process ended during a replacement.
    /// A no-op while a program has the file open.
    package func removeSecondName() {
        guard let entry = System.entry(atPath: path, followsLink: false), entry.linkCount > 1,
            OwnershipLock.holders(ofFile: path) == 0, let names = try? RealmFiles.names(in: folder)
        else { return }
        for name in names {
            guard case .replaced? = kind(name),
                System.entry(atPath: self.path(of: name), followsLink: false)?.identity == entry.identity
            else { continue }
            remove(name)
        }
    }

    package func removeAll() {
        for copy in list() { remove(copy.name) }
    }
}
