// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A file that has no name of its own until it is complete, so that no reader ever sees a part of
/// it and nothing is left of it when the process ends before.
///
/// Where the file system does not have files without names, it gets a name that no other file uses,
/// and that `removeLeftovers` recognizes.
package final class NewFile: Sendable {
    /// The descriptor of the file, open for reading and writing.
    package let descriptor: Int32
    /// The path while the file has a temporary name; nil where files without names exist.
    private let temporaryPath: String?

    /// The beginning of temporary names, by which leftovers are recognized.
    private static let prefix = ".realm-rest-"
    /// The end of temporary names, which together with `prefix` identifies leftovers.
    private static let suffix = ".part"

    /// Makes an empty file in the folder of `path`, with access for its owner only.
    package init(nextTo path: String) throws(StorageError) {
        if let descriptor = System.createNameless(inFolder: System.folder(of: path)) {
            self.descriptor = descriptor
            temporaryPath = nil
            return
        }
        let temporary = NewFile.temporaryPath(nextTo: path)
        descriptor = try System.createForWriting(temporary)
        temporaryPath = temporary
        // Shows `removeLeftovers` that the file is in use.
        _ = try? System.lock(descriptor, .shared)
    }

    /// Makes an empty file in `folder` without a name, with access for its owner only; nil where that is not possible, of which
    /// nothing is left over.
    package init?(namelessIn folder: String) {
        guard let descriptor = System.createNameless(inFolder: folder) else { return nil }
        self.descriptor = descriptor
        temporaryPath = nil
    }

    /// Makes an empty file in `folder` that never gets a name, and is gone when its descriptor is closed.
    ///
    /// Where the file system does not have such files, its name is removed at once.
    ///
    /// - Returns: The descriptor, which the caller closes.
    package static func withoutName(inFolder folder: String) throws(StorageError) -> Int32 {
        if let descriptor = System.createNameless(inFolder: folder) { return descriptor }
        let path = temporaryPath(inFolder: folder)
        let descriptor = try System.createForWriting(path)
        System.remove(path)
        return descriptor
    }

    deinit {
        if let temporaryPath { System.remove(temporaryPath) }
        System.unlockAndClose(descriptor)
    }

    /// Returns a backend for the file, with a descriptor of its own.
    ///
    /// - Parameter loss: The flag for missing parts of its mapping; nil for a new one.
    package func backend(loss: FileLoss? = nil) throws(StorageError) -> FileBackend {
        try FileBackend(descriptor: try System.duplicate(descriptor), loss: loss ?? FileLoss())
    }

    /// The path at which this process can open the file before it is published.
    package var openPath: String { temporaryPath ?? "/proc/self/fd/\(descriptor)" }

    /// Gives the file its name, and returns when that is durable: the file and its folder are synced.
    ///
    /// - Throws: `.io` with `EEXIST` when the name is taken; the caller decides what that means.
    package func publish(as path: String) throws(StorageError) {
        try System.sync(descriptor, dataOnly: false)
        try link(as: path)
        try System.syncFolder(of: path)
    }

    /// Gives the file a name in its folder, which must be free.
    private func link(as path: String) throws(StorageError) {
        if let temporaryPath {
            try System.link(temporaryPath, as: path)
        } else {
            try System.link(descriptor, as: path)
        }
    }

    /// Replaces the file of another name atomically, and returns when that is durable: the file and its folder are synced.
    ///
    /// - Parameters:
    ///   - check: Called when the file is synced, right before it takes the name; nothing has changed
    ///     when it throws.
    /// - Throws: `.io`, and errors of `check`. If only the sync of the folder failed, it is unknown which of the two files has
    ///   the name after a crash; call `takeName` and `System.syncFolder` to distinguish the two errors.
    package func replace(
        _ path: String, checking check: () throws(StorageError) -> Void = {}
    ) throws(StorageError) {
        try takeName(path, checking: check)
        try System.syncFolder(of: path)
    }

    /// Replaces the file of another name atomically. The folder has to be synced afterwards.
    ///
    /// - Throws: `.io`, and what `check` throws; then nothing has changed.
    func takeName(_ path: String, checking check: () throws(StorageError) -> Void = {}) throws(StorageError) {
        try System.sync(descriptor, dataOnly: false)
        // Only a file with a name can take that of another one.
        let temporary = NewFile.replacementPath(of: path)
        System.remove(temporary)
        try link(as: temporary)
        do throws(StorageError) {
            try check()
            try System.rename(temporary, to: path)
        } catch {
            System.remove(temporary)
            throw error
        }
    }

    /// Removes what is left of a replacement for the file at `path`, whose process ended in the moment
    /// between two names. Only the owner of the file may call it.
    static func removeReplacement(of path: String) { System.remove(replacementPath(of: path)) }

    /// Returns the name that a file has in the moment before it takes the name of another one, which is
    /// always the same for that one.
    private static func replacementPath(of path: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in path.utf8.reversed().prefix(while: { $0 != UInt8(ascii: "/") }) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return temporaryPath(inFolder: System.folder(of: path), number: hash)
    }

    /// Returns a temporary path in the folder of `path`.
    private static func temporaryPath(nextTo path: String) -> String {
        temporaryPath(inFolder: System.folder(of: path))
    }

    /// Returns a temporary path in a folder, with a random number that no other process uses.
    private static func temporaryPath(
        inFolder folder: String, number: UInt64 = .random(in: .min ... .max)
    ) -> String {
        (folder.hasSuffix("/") ? folder : folder + "/") + prefix + String(number, radix: 16) + suffix
    }

    /// Removes files that servers left in a folder when they ended while making them.
    ///
    /// A file that a living process still uses is locked and stays. A file that cannot be removed is not an error.
    ///
    /// - Parameters:
    ///   - names: The names of its entries.
    package static func removeLeftovers(inFolder folder: String, names: [String]) {
        for name in names where isTemporary(name) {
            let path = folder + "/" + name
            guard let descriptor = try? System.openRegular(path, followsLink: false) else { continue }
            defer { System.close(descriptor) }
            guard System.lockCount(on: System.identity(descriptor) ?? System.FileIdentity(device: 0, inode: 0)) == 0 else {
                continue
            }
            System.remove(path)
        }
    }

    /// Returns whether a name is one that this program gives to temporary files.
    private static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
        let number = name.dropFirst(prefix.count).dropLast(suffix.count)
        return (1...16).contains(number.utf8.count)
            && number.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
