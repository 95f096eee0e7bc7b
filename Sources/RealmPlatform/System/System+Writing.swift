// SPDX-License-Identifier: Apache-2.0

internal import CMappings
internal import Glibc
internal import SystemPackage

/// System calls for files that are open for writing.
extension System {
    /// The identity of a file, which does not depend on its names.
    package struct FileIdentity: Hashable, Sendable {
        /// The number of the device that holds the file.
        let device: UInt64
        /// The number of the file on its device.
        let inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    // MARK: - Opening

    /// Opens an existing regular file for reading and writing; nil when there is none.
    package static func openForWriting(_ path: String) throws(StorageError) -> Int32? {
        do throws(StorageError) {
            return try openRegular(path, writing: true)
        } catch .refused(.fileNotFound) {
            return nil
        }
    }

    /// Makes a second descriptor of the same open file, which is closed on `exec`.
    package static func duplicate(_ descriptor: Int32) throws(StorageError) -> Int32 {
        let copy = dup(descriptor)
        guard copy >= 0 else { throw .io(operation: "dup", errno: errno) }
        _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
        return copy
    }

    /// Makes a file that must not exist yet, with access for its owner only, and opens it for reading and writing.
    package static func createForWriting(_ path: String) throws(StorageError) -> Int32 {
        try openOrCreate(path, O_EXCL)
    }

    /// Opens a file for reading and writing, or makes it; `flags` decide what happens when it exists.
    private static func openOrCreate(_ path: String, _ flags: Int32) throws(StorageError) -> Int32 {
        let descriptor = retrying { unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0o600) }
        guard descriptor < 0 else { return descriptor }
        switch errno {
        case ENOENT, ENOTDIR: throw .refused(.fileNotFound)
        case EACCES, EPERM, EROFS: throw .refused(.unsuitable("no permission to write in the folder of the file"))
        case let code: throw .io(operation: "open", errno: code)
        }
    }

    // MARK: - Bytes

    /// Writes all of `bytes` at `offset`; throws `.io` when the system writes fewer.
    package static func write(_ descriptor: Int32, _ bytes: ByteView, at offset: Int) throws(StorageError) {
        let code = unsafe bytes.withUnsafeBytes { unsafe writeAll(descriptor, $0, offset) }
        if code != 0 { throw .io(operation: "pwrite", errno: code) }
    }

    /// Writes all of `bytes` to a descriptor that has no offsets, such as a pipe or a terminal.
    ///
    /// - Throws: `.io` at the first error that is not an interruption; a part may be written then.
    package static func write(_ descriptor: Int32, _ bytes: [UInt8]) throws(StorageError) {
        do {
            try FileDescriptor(rawValue: descriptor).writeAll(bytes)
        } catch {
            throw .io(operation: "write", errno: (error as? Errno ?? .ioError).rawValue)
        }
    }

    /// Writes until all bytes are written; returns 0, or the system's error number.
    private static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int32 {
        guard let start = bytes.baseAddress else { return 0 }
        var done = 0
        while done < bytes.count {
            // In bounds: `done` stays below the count.
            let count = unsafe pwrite(descriptor, start + done, bytes.count - done, off_t(offset + done))
            if count > 0 { done += count } else if count == 0 { return ENOSPC } else if errno != EINTR { return errno }
        }
        return 0
    }

    /// Reads up to `byteCount` bytes from `offset` on, fewer at the end of the file.
    ///
    /// Reads are repeated until everything is read or the file ends. The position of the descriptor
    /// is neither used nor moved, so several threads may read at once.
    ///
    /// - Throws: `.io` when a read fails.
    package static func read(_ descriptor: Int32, at offset: Int, byteCount: Int) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var done = 0
        while done < byteCount {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe buffer.baseAddress.map { unsafe pread(descriptor, $0 + done, byteCount - done, off_t(offset + done)) } ?? 0
            }
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { throw .io(operation: "pread", errno: errno) }
        }
        bytes.removeLast(byteCount - done)
        return bytes
    }

    /// Extends a file with blocks that are allocated at once, so that later writes to them cannot find the disk full.
    ///
    /// - Throws: `.io`, for example when the disk is full.
    package static func allocate(_ descriptor: Int32, from oldByteCount: Int, to byteCount: Int) throws(StorageError) {
        while true {
            let code = posix_fallocate(descriptor, off_t(oldByteCount), off_t(byteCount - oldByteCount))
            if code == 0 { return }
            if code != EINTR { throw .io(operation: "posix_fallocate", errno: code) }
        }
    }

    /// Makes a file exactly `byteCount` bytes long, by cutting it off or adding zeros.
    package static func truncate(_ descriptor: Int32, to byteCount: Int) throws(StorageError) {
        guard retrying({ ftruncate(descriptor, off_t(byteCount)) }) == 0 else {
            throw .io(operation: "ftruncate", errno: errno)
        }
    }

    /// Waits until everything that was written is on the disk. It is never repeated, because a
    /// failed sync may drop what it failed for.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - dataOnly: Whether times need not be written.
    package static func sync(_ descriptor: Int32, dataOnly: Bool) throws(StorageError) {
        guard (dataOnly ? fdatasync(descriptor) : fsync(descriptor)) == 0 else {
            throw .io(operation: dataOnly ? "fdatasync" : "fsync", errno: errno)
        }
    }

    // MARK: - Names

    /// Returns the path without symbolic links; the last part need not exist.
    ///
    /// It is used as the identity of a realm: two paths to one file are one realm.
    ///
    /// - Throws: `.refused(.fileNotFound)` when the folder does not exist, and for a link whose
    ///   target does not exist.
    package static func resolved(_ path: String) throws(StorageError) -> String {
        if let whole = realPath(path) { return whole }
        guard errno == ENOENT else { throw .io(operation: "realpath", errno: errno) }
        let cut = path.lastIndex(of: "/")
        let name = cut.map { path[path.index(after: $0)...] } ?? path[...]
        guard !name.isEmpty, name != ".", name != ".." else { throw .refused(.fileNotFound) }
        guard let parent = realPath(folder(of: path)) else { throw .refused(.fileNotFound) }
        // A link without a target would be followed when the file is made.
        guard !isSymbolicLink(path) else { throw .refused(.fileNotFound) }
        return parent == "/" ? "/" + name : parent + "/" + name
    }

    /// Returns the path without symbolic links; nil with `errno` set when it does not exist.
    private static func realPath(_ path: String) -> String? {
        guard let text = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// Returns whether the last part of the path is a symbolic link.
    private static func isSymbolicLink(_ path: String) -> Bool {
        var info = stat()
        return unsafe lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
    }

    /// Gives a file another name, atomically, in place of any file that has that name.
    package static func rename(_ old: String, to new: String) throws(StorageError) {
        guard unsafe Glibc.rename(old, new) == 0 else { throw .io(operation: "rename", errno: errno) }
    }

    /// Removes the name of a file. Failures are not reported: callers for which they matter check the
    /// name afterwards, or call `delete`.
    package static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Deletes a file; throws `.io` when the system refuses, or when there is none.
    package static func delete(_ path: String) throws(StorageError) {
        guard unsafe unlink(path) == 0 else { throw .io(operation: "unlink", errno: errno) }
    }

    /// Makes a folder that only this user can open. Returns false when there is something with that
    /// name, or the system refuses.
    package static func makeFolder(_ path: String) -> Bool { unsafe mkdir(path, 0o700) == 0 }

    package static func removeEmptyFolder(_ path: String) { _ = unsafe rmdir(path) }

    /// Gives an open file the permissions and, as far as allowed, the owner of another one.
    package static func copyPermissions(of path: String, to descriptor: Int32) {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return }
        _ = fchown(descriptor, info.st_uid, info.st_gid)
        _ = fchmod(descriptor, info.st_mode & 0o777)
    }

    /// Makes the names in the folder of `path` durable.
    ///
    /// A new or renamed file has its name after a crash only if its folder was synced too.
    ///
    /// - Throws: `.io` when the folder cannot be opened or synced.
    package static func syncFolder(of path: String) throws(StorageError) {
        let folder = folder(of: path)
        let descriptor = retrying { unsafe open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY) }
        guard descriptor >= 0 else { throw .io(operation: "open", errno: errno) }
        defer { close(descriptor) }
        try sync(descriptor, dataOnly: false)
    }

    /// Returns the identity of an open file; nil when the descriptor is not open.
    package static func identity(_ descriptor: Int32) -> FileIdentity? {
        var info = stat()
        return unsafe fstat(descriptor, &info) == 0 ? FileIdentity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino)) : nil
    }

    /// Returns the identity of the file at a path, with links followed; nil when there is none.
    package static func identity(path: String) -> FileIdentity? {
        var info = stat()
        return unsafe stat(path, &info) == 0 ? FileIdentity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino)) : nil
    }

    /// The status of a file by the system, except for its times.
    ///
    /// Reading the times would make the system record that of the next write more exactly, and on
    /// common file systems a commit takes a fifth longer then.
    package struct FilePlace: Equatable, Sendable {
        /// The identity of the file, which shows whether another one has its name.
        package let identity: FileIdentity
        /// The size of the file in bytes.
        package let byteCount: Int
        /// How many names the file has.
        package let linkCount: Int

        /// Reads the fields that `stat` has filled in.
        fileprivate init(_ info: stat) {
            identity = FileIdentity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino))
            byteCount = Int(info.st_size)
            linkCount = Int(info.st_nlink)
        }

        /// Reads the fields that `statx` has filled in.
        fileprivate init(_ place: realm_rest_place) {
            identity = FileIdentity(device: place.device, inode: place.inode)
            byteCount = Int(clamping: place.byte_count)
            linkCount = Int(place.link_count)
        }
    }

    /// Returns what the system reports about an open file, without its times.
    package static func place(_ descriptor: Int32) throws(StorageError) -> FilePlace {
        var place = realm_rest_place()
        guard unsafe realm_rest_place_of(descriptor, nil, &place) == 0 else { throw .io(operation: "statx", errno: errno) }
        return FilePlace(place)
    }

    /// Returns what the system reports about the file at a path, without its times.
    package static func place(path: String) throws(StorageError) -> FilePlace {
        var place = realm_rest_place()
        guard unsafe realm_rest_place_of(-1, path, &place) == 0 else { throw .io(operation: "statx", errno: errno) }
        return FilePlace(place)
    }

    /// The status of a file by the system, its times included, without reading it.
    package struct FileFacts: Equatable, Sendable {
        /// The identity, the size and the number of names.
        package let place: FilePlace
        /// The time at which its contents changed last, in nanoseconds since 1970.
        package let modified: Int64
        /// The time at which anything about it changed last, in nanoseconds since 1970.
        let changed: Int64

        /// Returns whether its contents changed in the last `nanoseconds`; a time in the future does not count.
        package func wasModified(within nanoseconds: Int64) -> Bool {
            (0..<nanoseconds).contains(WallClock.now().nanoseconds &- modified)
        }

        package var identity: FileIdentity { place.identity }
        /// Whether the file has a name, so that it may be opened later.
        package var hasName: Bool { place.linkCount > 0 }
        /// A text that identifies this state of the file.
        package var signature: String {
            let numbers = [
                place.identity.device, place.identity.inode, UInt64(place.byteCount), UInt64(bitPattern: modified),
                UInt64(bitPattern: changed),
            ]
            return numbers.map { String($0, radix: 16) }.joined(separator: "-")
        }

        /// Reads the fields that `stat` has filled in.
        fileprivate init(_ info: stat) {
            place = FilePlace(info)
            modified = Int64(info.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(info.st_mtim.tv_nsec)
            changed = Int64(info.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(info.st_ctim.tv_nsec)
        }
    }

    /// Returns what the system reports about an open file, including its times.
    package static func facts(_ descriptor: Int32) throws(StorageError) -> FileFacts {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw .io(operation: "fstat", errno: errno) }
        return FileFacts(info)
    }

    /// Returns what the system reports about the file at a path, including its times.
    package static func facts(path: String) throws(StorageError) -> FileFacts {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { throw .io(operation: "stat", errno: errno) }
        return FileFacts(info)
    }

    /// Returns the type of the file system that holds an open file, as the system's list of mounts names it.
    package static func fileSystemType(_ descriptor: Int32) -> String? { identity(descriptor).flatMap { fileSystemType(of: $0) } }

    /// Returns the type of the file system that holds a file, for example `ext4`; nil when the list of mounts does not have it.
    package static func fileSystemType(of file: FileIdentity) -> String? {
        let (major, minor) = deviceNumber(file.device)
        let device = "\(major):\(minor)"
        // 36 35 98:0 /root /mount options tags - type source options
        for line in String(decoding: systemList("/proc/self/mountinfo"), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 6, words[2] == device, let dash = words.firstIndex(of: "-") else { continue }
            return dash + 1 < words.count ? String(words[dash + 1]) : nil
        }
        return nil
    }

    // MARK: - Locks

    /// The kinds of lock: one that excludes all others, one that excludes exclusive ones, and none, which releases the lock.
    package enum LockKind { case exclusive, shared, none }

    /// Takes, changes or releases a lock on an open file without waiting.
    ///
    /// - Returns: Whether it succeeded; false when another lock is in the way.
    /// - Throws: `.io` for any other failure.
    package static func lock(_ descriptor: Int32, _ kind: LockKind) throws(StorageError) -> Bool {
        let operation: Int32
        switch kind {
        case .exclusive: operation = LOCK_EX | LOCK_NB
        case .shared: operation = LOCK_SH | LOCK_NB
        case .none: operation = LOCK_UN
        }
        guard retrying({ flock(descriptor, operation) }) != 0 else { return true }
        guard errno == EWOULDBLOCK else { throw .io(operation: "flock", errno: errno) }
        return false
    }

    /// Releases the lock of an open file and closes it.
    ///
    /// Closing alone would leave the lock to a process that another thread starts at this moment:
    /// it has copies of all descriptors until it executes its program.
    package static func unlockAndClose(_ descriptor: Int32) {
        _ = try? lock(descriptor, .none)
        close(descriptor)
    }

    /// Suspends the calling thread for a number of milliseconds.
    package static func pause(milliseconds: UInt32) { _ = usleep(milliseconds * 1000) }

    // MARK: - Memory

    /// The size of a page of memory, to which mappings are aligned.
    package static let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// Reserves a range of addresses without memory, to which nothing has access.
    package static func reserve(byteCount: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        let address = unsafe mmap(nil, byteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .io(operation: "mmap", errno: errno) }
        return unsafe address
    }

    /// Maps a part of a file into a reserved range.
    ///
    /// - Parameters:
    ///   - offset: The offset in the file, a multiple of the page size.
    ///   - byteCount: The size of the part.
    ///   - address: The place in the range, a multiple of the page size.
    ///   - isPrivate: Whether the memory may be changed, without an effect on the file; otherwise
    ///     it is read-only.
    package static func showFile(
        _ descriptor: Int32, offset: Int, byteCount: Int, at address: UnsafeMutableRawPointer, isPrivate: Bool = false
    ) throws(StorageError) {
        let access = isPrivate ? PROT_READ | PROT_WRITE : PROT_READ
        let kind = isPrivate ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED
        let result = unsafe mmap(address, byteCount, access, kind | MAP_FIXED, descriptor, off_t(offset))
        guard unsafe result == address else { throw .io(operation: "mmap", errno: errno) }
    }

    /// Makes a part of a reserved range zero-filled memory that can be written.
    package static func populate(_ address: UnsafeMutableRawPointer, byteCount: Int) throws(StorageError) {
        guard unsafe mprotect(address, byteCount, PROT_READ | PROT_WRITE) == 0 else {
            throw .io(operation: "mprotect", errno: errno)
        }
    }
}

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
