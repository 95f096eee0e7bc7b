// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The user that this process runs as.
package enum ProcessOwner {
    /// The reason why the process cannot run as the owner of a folder.
    package struct Failure: Error, CustomStringConvertible {
        /// A sentence for the administrator, without a final period.
        package let description: String
    }

    /// Drops root for good, in favor of the owner of a folder.
    ///
    /// A container may serve folders of the host with any owner: this way none of them needs another owner or other rights. An
    /// empty folder of root, as container engines make them, is given to a user first. It is a no-op for any other user, and for
    /// one that is root only inside another user's container.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - user: The number of the user, and of its group, that a new folder is given to.
    /// - Throws: `Failure` when there is no folder, root has files in it, or the process lacks the right.
    package static func switchUser(toOwnerOf folder: String, givingNewOnesTo user: UInt32) throws(Failure) {
        guard geteuid() == 0, isRootOfMachine else { return }
        var info = stat()
        guard unsafe stat(folder, &info) == 0 else { throw failure("there is no folder '\(folder)'") }
        var (owner, group) = (info.st_uid, info.st_gid)
        if owner == 0 {
            guard let names = try? System.names(inFolder: folder), names.isEmpty else {
                throw Failure(
                    description: "'\(folder)' belongs to root and has files: give it and them to the user that serves them, "
                        + "as by chown -R \(user):\(user)")
            }
            guard unsafe chown(folder, user, user) == 0 else { throw failure("'\(folder)' cannot be given to user \(user)") }
            (owner, group) = (user, user)
        }
        var groups = [group]
        guard unsafe setgroups(1, &groups) == 0, setgid(group) == 0, setuid(owner) == 0 else {
            throw failure("cannot run as user \(owner), the owner of '\(folder)'")
        }
    }

    /// Returns the reason why this process cannot make files in a folder, with a fix; nil when it can.
    ///
    /// - Parameter folder: The path of the folder.
    package static func hindrance(toWriting folder: String) -> String? {
        var info = stat()
        guard unsafe stat(folder, &info) == 0, unsafe access(folder, W_OK | X_OK) != 0 else { return nil }
        let mode = String(info.st_mode & 0o777, radix: 8)
        return "user \(geteuid()) cannot write the folder '\(folder)', which belongs to user \(info.st_uid) (mode \(mode)): "
            + "start the server as that user, such as with --user \(info.st_uid):\(info.st_gid) of a container engine, "
            + "or give it the folder by chown \(geteuid()):\(getegid())"
    }

    /// Whether root of this process is that of the machine: in a user namespace it may be any user.
    private static var isRootOfMachine: Bool {
        guard let descriptor = try? System.openForReading("/proc/self/uid_map") else { return true }
        defer { System.close(descriptor) }
        let text = (try? System.read(descriptor, at: 0, byteCount: 256)) ?? []
        let fields = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        return fields.count < 2 || String(decoding: fields[1], as: UTF8.self) == "0"
    }

    /// Returns a failure with the reason of the system.
    private static func failure(_ text: String) -> Failure {
        Failure(description: unsafe "\(text): \(String(cString: strerror(errno)))")
    }
}
