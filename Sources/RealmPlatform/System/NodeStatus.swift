// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The status of the entry at a path: a file, a socket or a symbolic link, which is not followed.
package struct NodeStatus: Sendable {
    package let device: UInt64
    /// Its number on that device.
    package let inode: UInt64
    /// The bits of its permissions, without those of its kind.
    package let permissions: UInt32
    /// The number of the user whom it belongs to.
    package let owner: UInt32
    /// The number of the group that it belongs to.
    package let group: UInt32
    package let isSocket: Bool
    /// The length of a file in bytes.
    package let byteCount: Int

    /// Asks the system.
    ///
    /// - Returns: nil when there is nothing, or it cannot be asked for.
    package init?(at path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        byteCount = Int(status.st_size)
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        permissions = UInt32(status.st_mode & 0o7777)
        owner = UInt32(status.st_uid)
        group = UInt32(status.st_gid)
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}
