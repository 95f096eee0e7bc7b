// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc
internal import RealmStorage

/// The file of a Unix socket of this process: made for this user only, and removed at the end if it is still the same.
struct UnixSocketFile: Sendable {
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    typealias Failure = ListeningSocket.Failure

    /// Binds and listens. A socket that an earlier server of this user left behind is replaced; anything else at `path` is not touched.
    static func listen(at path: String, backlog: Int32 = 128) throws(Failure) -> (descriptor: Int32, file: UnixSocketFile) {
        var address = try socketAddress(path)
        // Two servers that start at once must not both find the socket of a third abandoned.
        let folder = try lockedFolder(of: path)
        defer { Glibc.close(folder) }
        try removeAbandoned(path, &address)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Linux gives the file the mode of the socket, so nobody can open it before it is narrowed.
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0, unsafe connectOrBind(bind, descriptor, &address) == 0,
            Glibc.listen(descriptor, backlog) == 0, let status = status(of: path)
        else {
            let reason = unsafe String(cString: strerror(errno))
            if descriptor >= 0 { Glibc.close(descriptor) }
            throw Failure(description: "cannot listen on unix:\(path): \(reason)")
        }
        ListeningSocket.makeNonblocking(descriptor)
        return (descriptor, UnixSocketFile(path: path, device: status.st_dev, inode: status.st_ino))
    }

    /// Removes the file if it is still the one that was made.
    func remove() {
        guard let folder = try? UnixSocketFile.lockedFolder(of: path) else { return }
        defer { Glibc.close(folder) }
        guard let status = UnixSocketFile.status(of: path), status.st_dev == device, status.st_ino == inode else { return }
        unsafe unlink(path)
    }

    // MARK: - What is there already

    private static func removeAbandoned(_ path: String, _ address: inout sockaddr_un) throws(Failure) {
        guard let status = status(of: path) else { return }
        let isOurs = status.st_mode & S_IFMT == S_IFSOCK && status.st_uid == geteuid() && status.st_mode & 0o777 == 0o600
        guard isOurs else {
            throw Failure(
                description:
                    "unix:\(path): there is something at this path that is not a socket of this server; remove it or name another path"
            )
        }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw Failure(description: unsafe "unix:\(path): \(String(cString: strerror(errno)))") }
        defer { Glibc.close(probe) }
        let failure = unsafe connectOrBind(connect, probe, &address)
        guard failure != 0, errno == ECONNREFUSED else {
            throw Failure(description: "unix:\(path): a running program listens on this socket")
        }
        guard unsafe unlink(path) == 0 else {
            throw Failure(
                description: unsafe "unix:\(path): an old socket cannot be removed: \(String(cString: strerror(errno)))")
        }
    }

    /// The file itself, also when it is a symbolic link.
    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// A descriptor of the folder, locked until it is closed.
    private static func lockedFolder(of path: String) throws(Failure) -> Int32 {
        let folder = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
        let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(description: unsafe "unix:\(path): the folder cannot be opened: \(String(cString: strerror(errno)))")
        }
        // Held for moments only by servers; whoever else holds it is not waited for.
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            Threads.sleep(seconds: 0.02)
        }
        Glibc.close(descriptor)
        throw Failure(description: "unix:\(path): another program has locked the folder")
    }

    // MARK: - Addresses

    private static func socketAddress(_ path: String) throws(Failure) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0), bytes.last != UInt8(ascii: "/") else {
            throw Failure(description: "unix:\(path): the path of a socket has 1 to \(room - 1) bytes and names a file")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return address
    }

    private static func connectOrBind(
        _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32, _ address: inout sockaddr_un
    ) -> Int32 {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
