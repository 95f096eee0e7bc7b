// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// All system calls of the storage layer. `errno` is captured at once and interrupted calls are repeated.
///
/// Each call throws `.io` with the name of the call and the system's error number, unless the failure means that a file cannot be
/// used at all, which is `.refused`. Descriptors are plain numbers here; the caller that opens one closes it.
package enum System {
    /// Opens a file for reading; the descriptor is closed on `exec`.
    ///
    /// It is for files of the system and of the configuration. Realm files are opened by
    /// `openRegular`, which has no effect on anything but a regular file.
    package static func openForReading(_ path: String) throws(StorageError) -> Int32 {
        let descriptor = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw openFailure(errno, writing: false) }
        return descriptor
    }

    /// Returns the size in bytes of an open regular file.
    ///
    /// - Throws: `.refused(.unsuitable)` for a folder, a pipe or a device.
    package static func regularFileSize(_ descriptor: Int32) throws(StorageError) -> Int {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw .io(operation: "fstat", errno: errno) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .refused(.unsuitable("not a regular file")) }
        return Int(info.st_size)
    }

    /// Closes a descriptor. Errors are not reported: what has to be durable was synced before.
    package static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    /// Maps the first `byteCount` bytes of an open file for reading, shared with the file.
    package static func mapReadOnly(_ descriptor: Int32, byteCount: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        let address = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .io(operation: "mmap", errno: errno) }
        return unsafe address
    }

    /// Maps zero-filled private memory, which takes no space until it is touched.
    package static func mapAnonymous(byteCount: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        let address = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .io(operation: "mmap", errno: errno) }
        return unsafe address
    }

    /// Removes all access to whole pages of memory.
    package static func protect(_ address: UnsafeMutableRawPointer, byteCount: Int) {
        _ = unsafe mprotect(address, byteCount, PROT_NONE)
    }

    /// Returns the contents of whole pages of private memory to the system; they read as zeros afterwards.
    package static func forget(_ address: UnsafeMutableRawPointer, byteCount: Int) {
        _ = unsafe madvise(address, byteCount, MADV_DONTNEED)
    }

    /// Removes a mapping. Its addresses must not be used any more.
    package static func unmap(_ address: UnsafeMutableRawPointer, byteCount: Int) { _ = unsafe munmap(address, byteCount) }

    /// Repeats a system call while signals interrupt it, and returns its last result; `errno` is that of the last call.
    package static func retrying(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
