// SPDX-License-Identifier: Apache-2.0

/// A file that has no name of its own until it is whole, so that no reader ever sees a part of it and nothing is left of it
/// when the process ends before.
///
/// Where the file system has no files without names it has one that no other file uses, and that `removeLeftovers` knows.
package final class NewFile: Sendable {
    /// Open for reading and writing.
    package let descriptor: Int32
    /// The path while the file has a name of its own; nil where files without names exist.
    private let temporaryPath: String?

    /// How temporary names begin, by which leftovers are known.
    private static let prefix = ".realm-rest-"
    /// How temporary names end.
    private static let suffix = ".part"

    /// An empty file in the folder of `path`, which others cannot read.
    package init(beside path: String) throws(StorageError) {
        if let descriptor = System.createNameless(inFolder: System.folder(of: path)) {
            self.descriptor = descriptor
            temporaryPath = nil
            return
        }
        let temporary = NewFile.temporaryPath(beside: path)
        descriptor = try System.createForWriting(temporary)
        temporaryPath = temporary
        // Shows `removeLeftovers` that the file is in use.
        _ = try? System.lock(descriptor, .shared)
    }

    /// An empty file in `folder` that never gets a name, gone with its descriptor; where the file system has no such files,
    /// one whose name goes at once.
    package static func withoutName(inFolder folder: String) throws(StorageError) -> Int32 {
        if let descriptor = System.createNameless(inFolder: folder) { return descriptor }
        let path = temporaryPath(inFolder: folder)
        let descriptor = try System.createForWriting(path)
        System.remove(path)
        return descriptor
    }

    deinit {
        if let temporaryPath { System.remove(temporaryPath) }
        System.close(descriptor)
    }

    /// A backend for the file, with a descriptor of its own.
    package func backend() throws(StorageError) -> FileBackend {
        try FileBackend(descriptor: try System.duplicate(descriptor))
    }

    /// Where the file can be opened until it has its name, by this process only.
    package var openPath: String { temporaryPath ?? "/proc/self/fd/\(descriptor)" }

    /// Gives the file its name and returns when that is durable. Throws `.io` with `EEXIST` when the name is taken.
    ///
    /// Throws `.io` with the number of an existing file when there is one of that name; the caller decides what that means. The
    /// name is durable only after its folder was synced.
    package func publish(as path: String) throws(StorageError) {
        try System.sync(descriptor, dataOnly: false)
        if let temporaryPath {
            try System.link(temporaryPath, as: path)
        } else {
            try System.link(descriptor, as: path)
        }
        try System.syncFolder(of: path)
    }

    /// A name in the folder of `path` for a file that replaces another one when it is whole.
    static func temporaryPath(beside path: String) -> String {
        temporaryPath(inFolder: System.folder(of: path))
    }

    /// A path that no other process uses.
    private static func temporaryPath(inFolder folder: String) -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return (folder.hasSuffix("/") ? folder : folder + "/") + prefix + number + suffix
    }

    /// Removes what servers that ended in the middle of making a file have left in a folder.
    ///
    /// A file that a living process still works on is locked and left alone. Failing to remove one is no error.
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

    /// Whether a name is one that this program makes up for temporary files.
    private static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
        let number = name.dropFirst(prefix.count).dropLast(suffix.count)
        return (1...16).contains(number.utf8.count)
            && number.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
