// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Glibc
internal import MicroHTTP
package import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The open files that the system allows this process, and their uses: connections, bodies in files, and realms.
///
/// The budget is checked before the server announces its address: a server that listens has file
/// descriptors for all the connections that it promises and for the realms that it was started
/// with. Realms that are attached later are refused when the rest is used up.
package struct DescriptorBudget: Sendable {
    /// The limit of the system is too low for the realms and connections that the options demand.
    package struct Failure: Error, CustomStringConvertible {
        /// A sentence for the command line, with advice.
        package let description: String
    }

    /// The number of descriptors set aside for everything else: the log, listening sockets, the watches, the needs of each thread
    /// of the daemon, and files that are open for moments.
    private static let base = 128
    /// The number of descriptors that a realm keeps open: its file and the lock file.
    package static let perRealm = 2

    /// The number of descriptors that the process may have; `Int.max` when it is unknown.
    private let allowed: Int
    private let limits: Limits

    /// Raises the soft limit of the process to the hard limit, and records the result.
    ///
    /// - Parameter limits: The limits of the server, from which its needs follow.
    package init(_ limits: Limits) {
        self.limits = limits
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            allowed = .max
            return
        }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        allowed = Int(clamping: limit.rlim_cur)
    }

    /// The number of descriptors that everything but realms may need.
    private var needed: Int {
        HTTPServer.mostSockets(limits.http) + HTTPServer.mostSocketsOfAdministrators(limits.http) + limits.spool.files
            + SheetRoom.descriptors + DescriptorBudget.base
    }

    /// The number of realms that can be open at the same time.
    package var realms: Int { allowed == .max ? .max : max(0, (allowed - needed) / DescriptorBudget.perRealm) }

    /// Checks that there are descriptors for all promised connections, bodies in files, and some realms.
    ///
    /// - Parameter count: The number of realms to open.
    /// - Throws: `Failure` when the limit of the system is too low.
    package func require(realms count: Int) throws(Failure) {
        guard allowed < needed || count > realms else { return }
        let total = needed + count * DescriptorBudget.perRealm
        throw Failure(
            description: "\(limits.http.connections) connections, \(limits.spool.files) bodies in files and \(count) realms need "
                + "\(total) open files, but only \(allowed) are allowed; raise the limit (ulimit -n), or lower "
                + "--limit connections or spool-files")
    }
}
