// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage

/// Bytes that are too many for memory: a long request body in a file without a name, which is gone with this object, or
/// a file of somebody else's that is only read.
///
/// `@unchecked Sendable`: whoever receives a body appends to it, and only then hands it on to be read.
package final class BodyFile: @unchecked Sendable {
    private let descriptor: Int32
    package private(set) var byteCount = 0
    /// What of the room for such files this one takes; nil for a file of somebody else's.
    private let share: SpoolRoom.Share?

    /// An empty file in `folder`.
    package init(in folder: String, _ share: SpoolRoom.Share? = nil) throws(StorageError) {
        descriptor = try NewFile.withoutName(inFolder: folder)
        self.share = share
    }

    /// An empty file in the first of `folders` that takes one.
    package static func make(inOneOf folders: [String], _ share: SpoolRoom.Share? = nil) throws(StorageError) -> BodyFile {
        var failure = StorageError.io(operation: "open", errno: ENOENT)
        for folder in folders {
            do throws(StorageError) {
                let file = try BodyFile(in: folder, share)
                try share?.requireFreeDisk(file.descriptor)
                return file
            } catch { failure = error }
        }
        throw failure
    }

    /// An empty file beside this one in what it counts for.
    func makeSibling(inOneOf folders: [String]) throws(StorageError) -> BodyFile {
        try BodyFile.make(inOneOf: folders, try share?.sibling())
    }

    /// A file that is there.
    package init(reading path: String) throws(StorageError) {
        descriptor = try System.openForReading(path)
        share = nil
        do throws(StorageError) {
            byteCount = try System.regularFileSize(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Writes bytes at the end of the file. Waits for the disk; throws when there is no room left.
    package func append(_ bytes: [UInt8]) throws(StorageError) {
        let result = unsafe bytes.withUnsafeBytes { piece in Result { () throws(StorageError) in try unsafe append(piece) } }
        try result.get()
    }

    /// The same for bytes in memory that somebody else owns.
    func append(_ piece: UnsafeRawBufferPointer) throws(StorageError) {
        try share?.grow(by: piece.count, descriptor)
        var rest = unsafe piece
        while let start = rest.baseAddress, unsafe !rest.isEmpty {
            let count = unsafe pwrite(descriptor, start, rest.count, off_t(byteCount))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .io(operation: "pwrite", errno: count < 0 ? errno : ENOSPC) }
            byteCount += count
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Up to `byteCount` bytes from `offset`, fewer at the end.
    package func read(at offset: Int, byteCount: Int) throws(StorageError) -> [UInt8] {
        try System.read(descriptor, at: offset, byteCount: min(byteCount, max(0, self.byteCount - offset)))
    }
}
