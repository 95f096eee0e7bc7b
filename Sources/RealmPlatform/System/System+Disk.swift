// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// System calls about free space on disks and the contents of folders.
extension System {
    /// The size and the free space of a file system.
    package struct DiskSpace: Sendable {
        /// The size of the file system in bytes.
        package let totalBytes: UInt64
        /// The number of bytes that this process may still use.
        package let freeBytes: UInt64

        /// Reads the fields that the system has filled in; free space that overflows is reported as the greatest number.
        init(_ info: statvfs) {
            totalBytes = UInt64(info.f_blocks).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue
            let (free, overflow) = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
            freeBytes = overflow ? .max : free
        }
    }

    /// Returns the free space of the file system that holds `path`; nil when the system does not report it.
    package static func diskSpace(at path: String) -> DiskSpace? {
        var info = statvfs()
        return unsafe statvfs(path, &info) == 0 ? DiskSpace(info) : nil
    }

    /// Returns the free space of the file system of an open file; nil when the system does not report it.
    package static func diskSpace(of descriptor: Int32) -> DiskSpace? {
        var info = statvfs()
        return unsafe fstatvfs(descriptor, &info) == 0 ? DiskSpace(info) : nil
    }

    /// Throws unless there is room for `byteCount` more bytes in the folder of `path`.
    ///
    /// - Throws: `.io` with the error of a write to a full disk. Nothing is thrown when the system
    ///   does not report free space.
    package static func requireRoom(_ byteCount: Int, inFolderOf path: String) throws(StorageError) {
        try require(byteCount, diskSpace(at: folder(of: path)))
    }

    /// Throws unless the file system of an open file has room for `byteCount` more bytes, as the function for paths does.
    package static func requireRoom(_ byteCount: Int, for descriptor: Int32) throws(StorageError) {
        try require(byteCount, diskSpace(of: descriptor))
    }

    /// Throws when `space` is known and has less than `byteCount` bytes left.
    private static func require(_ byteCount: Int, _ space: DiskSpace?) throws(StorageError) {
        guard let space, space.freeBytes < UInt64(max(0, byteCount)) else { return }
        throw .io(operation: "write", errno: ENOSPC)
    }

    /// Returns a private folder for caches, which is created if it is missing.
    ///
    /// It is in the folder of the environment variable `XDG_CACHE_HOME`, or in `.cache` of the home folder. Nil when there is no such
    /// folder, or other users could write to it.
    ///
    /// - Parameters:
    ///   - name: Its path within, of names that are separated by slashes.
    ///   - base: The folder for caches; nil for that of the environment.
    package static func cacheFolder(_ name: String, in base: String? = nil) -> String? {
        let variable = { (name: String) -> String? in
            guard let value = unsafe getenv(name) else { return nil }
            let text = unsafe String(cString: value)
            return text.utf8.first == UInt8(ascii: "/") ? text : nil
        }
        guard var folder = base ?? variable("XDG_CACHE_HOME") ?? variable("HOME").map({ $0 + "/.cache" }) else { return nil }
        _ = makeFolder(folder)
        // The owner of the folder above could replace the folders below.
        guard isPrivateFolder(folder, followsLink: true) else { return nil }
        for part in name.split(separator: "/") {
            folder += "/" + part
            _ = makeFolder(folder)
            guard isPrivateFolder(folder, followsLink: false) else { return nil }
        }
        return folder
    }

    /// Returns whether a folder is at `path`, and only the user of this process may write to it.
    private static func isPrivateFolder(_ path: String, followsLink: Bool) -> Bool {
        var info = stat()
        guard unsafe (followsLink ? stat(path, &info) : lstat(path, &info)) == 0 else { return false }
        return info.st_mode & S_IFMT == S_IFDIR && info.st_uid == geteuid() && info.st_mode & 0o022 == 0
    }

    /// Sets the modification time of a file to now, which marks it as used.
    package static func touch(_ path: String) { _ = unsafe utimensat(AT_FDCWD, path, nil, 0) }

    /// Returns the names of all entries directly in `folder`, without `.` and `..`, in no particular order.
    ///
    /// - Throws: `.io` when the folder cannot be read.
    package static func names(inFolder folder: String) throws(StorageError) -> [String] {
        try entries(inFolder: folder).map(\.name)
    }

    /// The kind of an entry according to the list of its folder, without a look at the entry itself.
    package enum EntryKind: Sendable {
        /// A regular file.
        case file
        case folder
        /// A symbolic link, or an entry whose kind this file system does not list.
        case unknown
        /// A pipe, a socket or a device.
        case other
    }

    /// Returns the names and kinds of all entries directly in `folder`, as `names` does.
    package static func entries(inFolder folder: String) throws(StorageError) -> [(name: String, kind: EntryKind)] {
        guard let handle = unsafe opendir(folder) else { throw .io(operation: "opendir", errno: errno) }
        defer { unsafe closedir(handle) }
        var entries: [(name: String, kind: EntryKind)] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { entries.append((name, kind(unsafe entry.pointee.d_type))) }
        }
        return entries
    }

    /// Converts the type in the list of a folder to a kind.
    private static func kind(_ type: UInt8) -> EntryKind {
        switch Int(type) {
        case Int(DT_REG): return .file
        case Int(DT_DIR): return .folder
        case Int(DT_LNK), Int(DT_UNKNOWN): return .unknown
        default: return .other
        }
    }

    /// Returns whether there is a folder at `path`, with symbolic links followed.
    package static func isFolder(_ path: String) -> Bool {
        var info = stat()
        return unsafe stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }
}

/// Copies that share their blocks with the original, on file systems that offer it.
extension System {
    /// The request that makes one file share the blocks of another, `FICLONE`.
    private static let cloneRequest: UInt = 0x4004_9409

    /// Gives an empty file the contents of another one without copying them, as XFS and Btrfs can.
    ///
    /// - Parameters:
    ///   - source: The file, open for reading.
    ///   - target: The empty file, open for writing.
    /// - Returns: False when the file system cannot, or the files lie in two of them; nothing has
    ///   changed then.
    package static func clone(_ source: Int32, to target: Int32) -> Bool { ioctl(target, cloneRequest, source) == 0 }
}
