// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmPlatform
package import RealmStorage

/// Bytes that are too many for memory: a long request body in a temporary file without a name,
/// which disappears with this object, or an existing file that is only read.
///
/// `@unchecked Sendable`: one thread at a time appends, namely the one that receives the body; only
/// when it is complete is the object handed on to be read.
package final class BodyFile: @unchecked Sendable {
    /// The open file, which is closed with this object.
    private let descriptor: Int32
    /// The length of the file in bytes.
    package private(set) var byteCount = 0
    /// This file's part of the budget for temporary files; nil for a file that existed before.
    private let share: SpoolRoom.Share?

    /// Makes an empty temporary file.
    ///
    /// - Parameters:
    ///   - folder: A folder in which the file is made. It never appears there under a name.
    ///   - share: The part of the budget that the file is charged to.
    /// - Throws: `StorageError.io` when the folder takes no such file.
    package init(in folder: String, _ share: SpoolRoom.Share? = nil) throws(StorageError) {
        descriptor = try NewFile.withoutName(inFolder: folder)
        self.share = share
    }

    /// A path by which this process, and no other, can open the file as long as this object exists.
    package var openPath: String { "/proc/self/fd/\(descriptor)" }

    /// Makes an empty temporary file in the first folder where that is possible and whose disk has enough free space.
    ///
    /// - Parameters:
    ///   - folders: The folders to try, in order.
    ///   - share: The part of the budget that the file is charged to.
    /// - Returns: The file.
    /// - Throws: The error of the last folder.
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

    /// Makes another empty temporary file that is charged to the same client, such as for the decompressed form of this one.
    ///
    /// - Parameter folders: The folders to try, in order.
    /// - Throws: `StorageError.io`, with `EDQUOT` when the client has too many files.
    package func makeSibling(inOneOf folders: [String]) throws(StorageError) -> BodyFile {
        try BodyFile.make(inOneOf: folders, try share?.sibling())
    }

    /// Takes budget for temporary files that are needed to make this one, which are charged to the same client as one more.
    ///
    /// - Returns: The part of the budget; nil where nothing is counted.
    /// - Throws: `StorageError.io`, with `EDQUOT` when the client has too many files.
    func siblingShare() throws(StorageError) -> SpoolRoom.Share? { try share?.sibling() }

    /// Opens an existing file for reading.
    ///
    /// - Parameter path: The path of a regular file.
    /// - Throws: `StorageError` when it does not exist, cannot be read, or is no regular file.
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

    /// Writes bytes at the end of the file. The calling thread waits for the disk, so it must not be one of the daemon's.
    ///
    /// - Throws: `StorageError.io` when the disk or the budget is used up; a part may be written
    ///   then.
    package func append(_ bytes: [UInt8]) throws(StorageError) {
        try share?.grow(by: bytes.count, descriptor)
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try System.write(descriptor, view, at: byteCount) }
        byteCount += bytes.count
    }

    /// Fills the empty file by a function, which may write in any order.
    ///
    /// - Parameters:
    ///   - expected: The approximate number of bytes, for the budget.
    ///   - write: Writes to the file. The calling thread waits for the disk during that time.
    /// - Throws: The error of `write`, and `StorageError.io` when the budget is used up.
    package func fill(
        expecting expected: Int, _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) {
        try share?.grow(by: expected, descriptor)
        let backend = try FileBackend(descriptor: try System.duplicate(descriptor))
        try write(backend)
        byteCount = backend.byteCount
        if byteCount > expected { try share?.grow(by: byteCount - expected, descriptor) }
    }

    /// Fills the empty file with bytes that a function stores through its descriptor.
    ///
    /// - Parameters:
    ///   - expected: The number of bytes, for the budget.
    ///   - write: Writes to the descriptor. The calling thread waits during that time.
    /// - Throws: The error of `write`, and `StorageError.io` when the budget is used up.
    package func fill(
        expecting expected: Int, throughDescriptor write: (Int32) throws(StorageError) -> Void
    ) throws(StorageError) {
        try share?.grow(by: expected, descriptor)
        try write(descriptor)
        byteCount = try System.regularFileSize(descriptor)
        if byteCount > expected { try share?.grow(by: byteCount - expected, descriptor) }
    }

    /// Fills the empty file by a function that stores an unknown number of bytes through its descriptor.
    ///
    /// - Parameter write: Writes to the descriptor, and calls its second argument at intervals, which charges the written bytes
    ///   to the budget. The calling thread waits during that time.
    /// - Throws: The error of `write`, and `StorageError.io` when the budget is used up.
    func fill(growing write: (Int32, @escaping () throws(StorageError) -> Void) throws -> Void) throws {
        let charge = { [self] () throws(StorageError) in
            let size = try System.regularFileSize(descriptor)
            guard size > byteCount else { return }
            try share?.grow(by: size - byteCount, descriptor)
            byteCount = size
        }
        try write(descriptor, charge)
        try charge()
    }

    /// Calls a function with the descriptor of the complete file, which it must not close or write to.
    func withDescriptor<Result>(_ body: (Int32) throws -> Result) rethrows -> Result { try body(descriptor) }

    /// Returns the SHA-256 of the content. The calling thread reads the whole file.
    ///
    /// - Throws: `StorageError.io` when reading fails.
    package func digest() throws(StorageError) -> [UInt8] {
        try FileDigest.sha256(descriptor, 0..<byteCount)
    }

    /// Reads a part of the file.
    ///
    /// - Parameters:
    ///   - offset: The start of the part, in bytes from the start.
    ///   - byteCount: The greatest number of bytes to read.
    /// - Returns: The bytes, fewer than `byteCount` at the end of the file.
    /// - Throws: `StorageError.io` when reading fails.
    package func read(at offset: Int, byteCount: Int) throws(StorageError) -> [UInt8] {
        try System.read(descriptor, at: offset, byteCount: min(byteCount, max(0, self.byteCount - offset)))
    }
}
