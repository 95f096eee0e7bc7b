// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmPlatform
package import RealmStorage

/// Copies whole files by the system, without reading them as realms.
package enum FileCopy {
    /// The number of bytes after which cancellation is checked.
    private static let pieceByteCount = 16 << 20

    /// Copies a file that is not written to meanwhile, and makes the copy durable.
    ///
    /// - Parameters:
    ///   - target: The path of the copy, which must not exist.
    ///   - control: States whether copying was cancelled.
    package static func copy(_ source: String, to target: String, _ control: WorkControl? = nil) throws(StorageError) {
        let file = try NewFile(nextTo: target)
        try copy(source, to: file.descriptor, control)
        try file.publish(as: target)
    }

    /// Copies the bytes of a file to an open one; with `isExact` no symbolic link in the path is followed.
    private static func copy(
        _ source: String, to target: Int32, _ control: WorkControl?, isExact: Bool = false
    ) throws(StorageError) {
        let input = try System.openRegular(source, isExact: isExact)
        defer { System.close(input) }
        var left = try System.regularFileSize(input)
        try System.requireRoom(left, for: target)
        guard ftruncate(target, 0) == 0, lseek(target, 0, SEEK_SET) == 0 else {
            throw .io(operation: "ftruncate", errno: errno)
        }
        while left > 0 {
            try control?.check()
            let count = sendfile(target, input, nil, min(left, pieceByteCount))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .io(operation: "sendfile", errno: count < 0 ? errno : EIO) }
            left -= count
        }
    }

    /// Makes a copy without a name of a file: in the folder of the file, sharing its blocks, where the file system can do that; otherwise
    /// byte by byte in the folder for temporary files. The caller checks that the file was not written to meanwhile.
    ///
    /// - Parameters:
    ///   - control: States whether the work was cancelled.
    ///   - isExact: Whether no symbolic link in the path is followed.
    /// - Returns: The copy, and the number of bytes that were copied; 0 when the blocks are shared.
    package static func cloneOrCopy(
        _ source: String, _ control: WorkControl?, isExact: Bool
    ) throws(StorageError) -> (file: NewFile, copiedByteCount: Int) {
        let input = try System.openRegular(source, isExact: isExact)
        defer { System.close(input) }
        // Blocks are shared within one file system only, so the folder of the file comes first.
        if let sibling = NewFile(namelessIn: System.folder(of: source)), System.clone(input, to: sibling.descriptor) {
            return (sibling, 0)
        }
        let file = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
        if System.clone(input, to: file.descriptor) { return (file, 0) }
        try copy(source, to: file.descriptor, control, isExact: isExact)
        return (file, try System.regularFileSize(file.descriptor))
    }

    /// Gives an empty file the bytes of a file that is not written to meanwhile, in shared blocks where the file system can.
    ///
    /// - Parameters:
    ///   - target: The empty file, open for writing.
    ///   - control: States whether copying was cancelled.
    ///   - isExact: Whether no symbolic link in the path is followed.
    static func cloneOrCopy(
        _ source: String, to target: Int32, _ control: WorkControl?, isExact: Bool
    ) throws(StorageError) {
        let input = try System.openRegular(source, isExact: isExact)
        defer { System.close(input) }
        if System.clone(input, to: target) { return }
        try copy(source, to: target, control, isExact: isExact)
    }

    /// Copies a file that others may write to meanwhile.
    ///
    /// A commit writes to free space only and ends with a change of the header. The bytes that were
    /// copied between two reads of the same header are therefore one version.
    ///
    /// - Parameters:
    ///   - control: States whether copying was cancelled.
    ///   - isExact: Whether no symbolic link in the path is followed.
    /// - Throws: `StorageError.refused(.fileInUse)` when the header changes in each of 20 attempts.
    package static func copyConsistently(
        of source: String, to file: NewFile, _ control: WorkControl? = nil, isExact: Bool = false
    ) throws(StorageError) {
        try copyConsistently(of: source, to: file.descriptor, control, isExact: isExact)
    }

    /// Copies a file that others may write to meanwhile to an open file, as above.
    ///
    /// - Parameters:
    ///   - target: The open file, whose contents are replaced.
    ///   - control: States whether copying was cancelled.
    ///   - isExact: Whether no symbolic link in the path is followed.
    /// - Throws: `StorageError.refused(.fileInUse)` when the header changes in each of 20 attempts.
    package static func copyConsistently(
        of source: String, to target: Int32, _ control: WorkControl? = nil, isExact: Bool = false
    ) throws(StorageError) {
        for _ in 0..<20 {
            let before = try head(of: source, isExact)
            try copy(source, to: target, control, isExact: isExact)
            if try head(of: source, isExact) == before { return }
        }
        throw .refused(.fileInUse("another program keeps writing to the file, so it cannot be copied"))
    }

    /// Returns the first 8192 bytes: the header, and in an encrypted file the bytes that change with it.
    private static func head(of path: String, _ isExact: Bool) throws(StorageError) -> [UInt8] {
        let descriptor = try System.openRegular(path, isExact: isExact)
        defer { System.close(descriptor) }
        return try System.read(descriptor, at: 0, byteCount: 8192)
    }
}
