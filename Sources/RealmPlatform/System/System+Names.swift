// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// System calls with paths: the description of a file, opening without side effects, naming.
extension System {
    /// The description of what is at a path.
    package struct DirectoryEntry: Sendable {
        /// The identity of the file, whatever its name.
        package let identity: FileIdentity
        /// Whether the entry is a regular file rather than a folder, a link or a device.
        package let isRegular: Bool
        /// Whether the entry is a named pipe.
        package let isPipe: Bool
        /// The size in bytes; meaningful for regular files.
        package let byteCount: Int
        /// How many names the file has.
        package let linkCount: Int
        /// The time of the last change of its bytes, in seconds and nanoseconds since 1970. It is used for sorting.
        package let modified: (seconds: Int, nanoseconds: Int)

        /// Reads the fields that the system has filled in.
        init(_ info: stat) {
            identity = FileIdentity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino))
            isRegular = info.st_mode & S_IFMT == S_IFREG
            isPipe = info.st_mode & S_IFMT == S_IFIFO
            byteCount = Int(info.st_size)
            linkCount = Int(info.st_nlink)
            modified = (Int(info.st_mtim.tv_sec), Int(info.st_mtim.tv_nsec))
        }
    }

    /// Returns what is at a path; nil when there is nothing, or nothing that may be examined.
    ///
    /// It does not open the file and changes nothing about it, not even the time of its last access.
    ///
    /// - Parameters:
    ///   - followsLink: Whether a symbolic link is followed; otherwise the link itself is
    ///     described.
    package static func entry(atPath path: String, followsLink: Bool = true) -> DirectoryEntry? {
        var info = stat()
        return unsafe (followsLink ? stat(path, &info) : lstat(path, &info)) == 0 ? DirectoryEntry(info) : nil
    }

    /// Returns the description of an open file; nil when the descriptor is not open.
    package static func entry(_ descriptor: Int32) -> DirectoryEntry? {
        var info = stat()
        return unsafe fstat(descriptor, &info) == 0 ? DirectoryEntry(info) : nil
    }

    /// The flag of `open` for naming a file without opening it, which has no effect on a pipe, a device or a tape.
    private static let nameOnly: Int32 = 0o10000000

    /// The flag of `open` for reading without a change of the time of the last access, which the owner of a file may ask for.
    private static let noAccessTime: Int32 = 0o1000000

    /// Opens a regular file, without side effects on anything else: it is opened by name only first, and examined.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - writing: Whether it is opened for writing too.
    ///   - followsLink: Whether a symbolic link at the end of the path is followed.
    ///   - isExact: Whether the path was resolved before, so that no link may be followed on the
    ///     way: another program may have put it there since.
    ///   - keepsAccessTime: Whether reading leaves the time of the last access as it is, where that is allowed.
    /// - Returns: A descriptor, which the caller closes.
    /// - Throws: `.refused(.fileNotFound)` when there is no file or a forbidden link,
    ///   `.refused(.unsuitable)` for anything but a regular file or without permission, `.io`
    ///   otherwise.
    package static func openRegular(
        _ path: String, writing: Bool = false, followsLink: Bool = true, isExact: Bool = false, keepsAccessTime: Bool = false
    ) throws(StorageError) -> Int32 {
        let handle = retrying { unsafe open(path, nameOnly | O_CLOEXEC | (followsLink && !isExact ? 0 : O_NOFOLLOW)) }
        guard handle >= 0 else { throw openFailure(errno, writing: false) }
        defer { close(handle) }
        _ = try regularFileSize(handle)
        if isExact, let place = System.path(of: handle), place != path { throw .refused(.fileNotFound) }
        let flags = (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        var descriptor: Int32 = -1
        if keepsAccessTime { descriptor = retrying { unsafe open("/proc/self/fd/\(handle)", flags | noAccessTime) } }
        if descriptor < 0 { descriptor = retrying { unsafe open("/proc/self/fd/\(handle)", flags) } }
        if descriptor < 0, errno == ENOENT { descriptor = retrying { unsafe open(path, flags | (followsLink ? 0 : O_NOFOLLOW)) } }
        guard descriptor >= 0 else { throw openFailure(errno, writing: writing) }
        guard identity(descriptor) == identity(handle) else {
            close(descriptor)
            throw .refused(.fileNotFound)
        }
        return descriptor
    }

    /// Returns the error for a failed `open`: no file, no permission, or an error of the system.
    package static func openFailure(_ code: Int32, writing: Bool) -> StorageError {
        switch code {
        case ENOENT, ENOTDIR: return .refused(.fileNotFound)
        case EACCES, EPERM, EROFS:
            return .refused(.unsuitable(writing ? "no permission to write the file" : "no permission to read the file"))
        case ETXTBSY: return .refused(.unsuitable("the file is being run as a program"))
        default: return .io(operation: "open", errno: code)
        }
    }

    /// Returns the present path of an open file, without links; nil when it is unknown or the file has no name.
    package static func path(of descriptor: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe bytes.baseAddress.map {
                unsafe readlink("/proc/self/fd/\(descriptor)", unsafe $0.assumingMemoryBound(to: CChar.self), bytes.count)
            }
                ?? -1
        }
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Returns the target that a symbolic link states; nil for anything else.
    package static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe readlink(path, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Returns the folder part of a path; "." for a name alone.
    package static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Throws unless files may be made in the folder of `path`, and removed again.
    ///
    /// It is called before anything is made, so that a rejection can state the reason. Permissions may change afterwards; the
    /// call that makes the file reports that itself.
    ///
    /// - Throws: `.refused(.fileNotFound)` when there is no folder, `.refused(.unsuitable)` without
    ///   permission.
    package static func requireWritableFolder(of path: String) throws(StorageError) {
        let folder = folder(of: path)
        // AT_EACCESS: with the effective user and group of the process.
        guard unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, 0x200) != 0 else { return }
        if errno == ENOENT || errno == ENOTDIR { throw .refused(.fileNotFound) }
        throw .refused(.unsuitable("no permission to write in the folder of the file"))
    }

    /// Throws `.refused(.unsuitable)` unless the permissions of a file allow writing to it.
    package static func requireWritable(_ path: String) throws(StorageError) {
        guard unsafe faccessat(AT_FDCWD, path, W_OK, 0x200) != 0 else { return }
        if errno == ENOENT || errno == ENOTDIR { throw .refused(.fileNotFound) }
        throw .refused(.unsuitable("no permission to write to the file"))
    }

    /// Gives an open file another name; throws `.io` when something has that name.
    package static func link(_ descriptor: Int32, as path: String) throws(StorageError) {
        guard unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 else {
            throw .io(operation: "link", errno: errno)
        }
    }

    /// Gives a file another name; throws `.io` when something has that name.
    package static func link(_ old: String, as path: String) throws(StorageError) {
        guard unsafe Glibc.link(old, path) == 0 else { throw .io(operation: "link", errno: errno) }
    }

    /// The folder for temporary files: that of the environment variable `TMPDIR`, or `/tmp`.
    package static var temporaryFolder: String { unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp" }

    /// Makes a file without a name in a folder, which exists as long as it is open.
    ///
    /// - Returns: Its descriptor; nil where the file system does not have such files.
    package static func createNameless(inFolder folder: String) -> Int32? {
        // O_TMPFILE is O_DIRECTORY and one bit more.
        let descriptor = retrying { unsafe open(folder, 0o20000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600) }
        return descriptor >= 0 ? descriptor : nil
    }

    /// Returns how many locks of `flock` there are on a file, of this process and of others that it can see.
    ///
    /// Reading the system's list disturbs no other program: an attempt to take the lock would make
    /// SDKs that come in that moment conclude that the lock file belongs to a living process.
    package static func lockCount(on file: FileIdentity) -> Int {
        let text = systemList("/proc/locks")
        let device = deviceNumber(file.device)
        var exact = 0
        var similar = 0
        // 1: FLOCK  ADVISORY  READ 1234 08:01:5678 0 EOF
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count >= 6, words[1].elementsEqual("FLOCK".utf8) else { continue }
            let place = String(decoding: words[5], as: UTF8.self).split(separator: ":")
            guard place.count == 3, UInt64(place[2]) == file.inode,
                let major = UInt64(place[0], radix: 16), let minor = UInt64(place[1], radix: 16)
            else { continue }
            similar += 1
            if (major, minor) == device { exact += 1 }
        }
        guard exact == 0, similar > 0 else { return exact }
        // For overlays, and file systems with several devices, the kernel may list another device.
        let type = fileSystemType(of: file)
        return type == nil || type == "overlay" || type == "btrfs" ? similar : 0
    }

    /// Returns the text of a list of the system, whose size is not known before it is read; empty when it cannot be read.
    package static func systemList(_ path: String) -> [UInt8] {
        guard let descriptor = try? openForReading(path) else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        while let part = try? read(descriptor, at: text.count, byteCount: 1 << 16), !part.isEmpty, text.count < 1 << 24 {
            text += part
        }
        return text
    }

    /// Returns the major and minor number of a device, as the lists of locks and mounts show them.
    package static func deviceNumber(_ device: UInt64) -> (UInt64, UInt64) {
        (device >> 8 & 0xfff | device >> 32 & ~0xfff, device & 0xff | device >> 12 & 0xffff_ff00)
    }

    /// Gives access to an open file to all users who may write the file at `model`, and to no others.
    package static func share(_ descriptor: Int32, withWritersOf model: String) {
        var info = stat()
        guard unsafe stat(model, &info) == 0 else { return }
        _ = fchown(descriptor, info.st_uid, info.st_gid)
        var mode: mode_t = 0o600
        if info.st_mode & 0o020 != 0 { mode |= 0o060 }
        if info.st_mode & 0o002 != 0 { mode |= 0o006 }
        if mode != 0o600 { _ = fchmod(descriptor, mode) }
    }
}
