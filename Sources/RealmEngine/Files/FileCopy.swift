// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage

/// Copies of files.
package enum FileCopy {
    /// Bytes between two questions whether the copy is still wanted.
    private static let pieceByteCount = 16 << 20

    /// Copies a file that is not written to meanwhile to one that must not exist, and makes it durable.
    package static func copy(_ source: String, to target: String, _ control: WorkControl? = nil) throws(StorageError) {
        let file = try NewFile(beside: target)
        try copy(source, to: file, control)
        try file.publish(as: target)
    }

    /// In an `isExact` path no link is followed.
    private static func copy(
        _ source: String, to file: NewFile, _ control: WorkControl?, isExact: Bool = false
    ) throws(StorageError) {
        let input = try System.openRegular(source, isExact: isExact)
        defer { System.close(input) }
        var left = try System.regularFileSize(input)
        try System.requireRoom(left, for: file.descriptor)
        guard ftruncate(file.descriptor, 0) == 0, lseek(file.descriptor, 0, SEEK_SET) == 0 else {
            throw .io(operation: "ftruncate", errno: errno)
        }
        while left > 0 {
            try control?.check()
            let count = sendfile(file.descriptor, input, nil, min(left, pieceByteCount))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .io(operation: "sendfile", errno: count < 0 ? errno : EIO) }
            left -= count
        }
    }

    /// Copies a file that others may write to meanwhile. A commit ends with a change of the header, and until then goes to
    /// free space only: what was copied between two equal headers is one version.
    static func copyQuietMoment(
        of source: String, to file: NewFile, _ control: WorkControl? = nil, isExact: Bool = false
    ) throws(StorageError) {
        for _ in 0..<20 {
            let before = try head(of: source, isExact)
            try copy(source, to: file, control, isExact: isExact)
            if try head(of: source, isExact) == before { return }
        }
        throw .refused(.fileInUse("the file is written to all the time, so that it cannot be copied"))
    }

    /// The header, and in an encrypted file what is written whenever it changes.
    private static func head(of path: String, _ isExact: Bool) throws(StorageError) -> [UInt8] {
        let descriptor = try System.openRegular(path, isExact: isExact)
        defer { System.close(descriptor) }
        return try System.read(descriptor, at: 0, byteCount: 8192)
    }

    /// Removes a file if it is there.
    package static func remove(_ path: String) { unsafe unlink(path) }
}
