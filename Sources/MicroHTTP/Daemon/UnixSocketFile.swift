// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers make the system declarations used here visible
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The file of a Unix socket of this process. It is removed at the end if it is still the same file.
package struct UnixSocketFile: Sendable {
    private let path: String
    /// The device of the file, which identifies it together with `inode`.
    private let device: UInt64
    /// The number of the file on its device.
    private let inode: UInt64

    /// The error of all listening sockets.
    typealias Failure = ListeningSocket.Failure

    /// Makes a Unix socket that listens.
    ///
    /// A socket that remains from an earlier server of this user is replaced. Anything else at the path is not touched.
    ///
    /// - Parameters:
    ///   - path: The path of the socket's file.
    ///   - access: The users that may open it.
    ///   - backlog: The number of connections that may wait to be accepted.
    /// - Returns: The socket, which does not block, and its file.
    /// - Throws: `Failure` when the path is in use or not suitable, or the system refuses.
    static func listen(
        at path: String, access: SocketAccess, backlog: Int32 = 128
    ) throws(Failure) -> (descriptor: Int32, file: UnixSocketFile) {
        var address = try socketAddress(path)
        let owner = try user(access.owner, path)
        let group = try group(access.group, path)
        // Two servers that start at once must not both find the socket of a third abandoned.
        let folder = try lockedFolder(of: path)
        defer { Glibc.close(folder) }
        try removeAbandoned(path, &address, by: access, owner)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Linux gives the file the mode of the socket, so it can be opened by no other user before it has its owner.
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0, unsafe connectOrBind(bind, descriptor, &address) == 0,
            admit(access, to: path, owner, group), Glibc.listen(descriptor, backlog) == 0, let status = NodeStatus(at: path)
        else {
            let reason = unsafe String(cString: strerror(errno))
            if descriptor >= 0 {
                // The bound file belongs to this process, although it does not listen.
                if isBound(descriptor) { unsafe unlink(path) }
                Glibc.close(descriptor)
            }
            throw Failure(description: "cannot listen on unix:\(path): \(reason)")
        }
        ListeningSocket.makeNonblocking(descriptor)
        return (descriptor, UnixSocketFile(path: path, device: status.device, inode: status.inode))
    }

    /// Whether a socket has a path.
    private static func isBound(_ descriptor: Int32) -> Bool { !path(of: descriptor).isEmpty }

    /// Returns the path that a Unix socket is bound to; empty for none, and for a name without a file.
    static func path(of descriptor: Int32) -> String {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) == 0 }
        }
        guard isKnown else { return "" }
        return unsafe withUnsafeBytes(of: address.sun_path) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    // MARK: - Owners

    /// Gives a new socket its owner and its permissions, in this order; false, with the reason in `errno`, when the
    /// system refuses.
    private static func admit(_ access: SocketAccess, to path: String, _ owner: uid_t?, _ group: gid_t?) -> Bool {
        let none = UInt32.max
        if owner != nil || group != nil, unsafe lchown(path, owner ?? none, group ?? none) != 0 { return false }
        return unsafe access.mode == 0o600 || chmod(path, mode_t(access.mode)) == 0
    }

    /// Returns the number of a user; nil without a name.
    private static func user(_ name: String?, _ path: String) throws(Failure) -> uid_t? {
        guard let name else { return nil }
        if let number = uid_t(name) { return number }
        guard let entry = unsafe getpwnam(name) else { throw Failure(description: "unix:\(path): there is no user '\(name)'") }
        return unsafe entry.pointee.pw_uid
    }

    /// Returns the number of a group; nil without a name.
    private static func group(_ name: String?, _ path: String) throws(Failure) -> gid_t? {
        guard let name else { return nil }
        if let number = gid_t(name) { return number }
        guard let entry = unsafe getgrnam(name) else { throw Failure(description: "unix:\(path): there is no group '\(name)'") }
        return unsafe entry.pointee.gr_gid
    }

    /// Removes the file, unless another one has taken its place.
    func remove() {
        guard let folder = try? UnixSocketFile.lockedFolder(of: path) else { return }
        defer { Glibc.close(folder) }
        guard let status = NodeStatus(at: path), status.device == device, status.inode == inode else { return }
        unsafe unlink(path)
    }

    // MARK: - Existing files

    /// Removes a socket at the path that no process listens on any more. Throws for any other file.
    private static func removeAbandoned(
        _ path: String, _ address: inout sockaddr_un, by access: SocketAccess, _ owner: uid_t?
    ) throws(Failure) {
        guard let status = NodeStatus(at: path) else { return }
        // A server that ended early may have left its socket with the mode that all have at first.
        let isOfMode = [0o600, access.mode].contains(status.permissions & 0o777)
        let isOurs = isOfMode && status.isSocket && (status.owner == geteuid() || status.owner == owner)
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

    /// Opens the folder of a path and locks it until the descriptor is closed, so that two servers do not replace sockets at
    /// the same time. Throws when the lock is not obtained within two seconds.
    private static func lockedFolder(of path: String) throws(Failure) -> Int32 {
        let folder = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
        let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(description: unsafe "unix:\(path): the folder cannot be opened: \(String(cString: strerror(errno)))")
        }
        // Servers hold the lock only for moments. A program that holds it longer is not waited for.
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            Threads.sleep(seconds: 0.02)
        }
        Glibc.close(descriptor)
        throw Failure(description: "unix:\(path): another program has locked the folder")
    }

    // MARK: - Addresses

    /// Returns the socket address of a path. Throws when the path is empty, too long, or names a folder.
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

    /// Calls `connect` or `bind` with a Unix socket address, and returns the result.
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
