// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files to which lines are added.
extension System {
    /// Opens a regular file whose writes all go to its end. A file that does not exist is made, with access for its owner only.
    ///
    /// - Parameter path: The path, whose links are followed.
    /// - Returns: A descriptor for reading and adding, which the caller closes.
    /// - Throws: `.refused` for anything but a regular file, without permission and without a folder; `.io` otherwise.
    package static func openForAppending(_ path: String) throws(StorageError) -> Int32 {
        // A pipe or a terminal is opened without waiting for it, and then refused.
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = retrying { unsafe open(path, flags, 0o600) }
        guard descriptor >= 0 else { throw openFailure(errno, writing: true) }
        do throws(StorageError) {
            _ = try regularFileSize(descriptor)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }
}
