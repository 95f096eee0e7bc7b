// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what limits need
internal import Glibc
internal import RealmStorage

/// The open files that the system allows this process, and what they are for: connections, bodies in files, realms.
///
/// Counted before the address is announced: a server that says it listens has room for all connections it promises and
/// for the realms it was given. Realms that come later are refused when the rest is used up.
package struct DescriptorBudget: Sendable {
    /// A sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Log, listening socket, watches, and what each thread of the daemon has for itself; folders and files that are
    /// opened for a moment.
    private static let base = 128
    /// The file and its lock.
    package static let perRealm = 2

    /// What the process may have.
    private let allowed: Int
    private let limits: Limits

    /// Raises the limit of the process as far as it may, and looks at what it is then.
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

    private var needed: Int {
        HTTPServer.mostSockets(limits) + HTTPServer.mostSocketsOfAdministrators(limits) + limits.spoolFiles
            + DescriptorBudget.base
    }

    /// How many realms there is room for.
    package var realms: Int { allowed == .max ? .max : max(0, (allowed - needed) / DescriptorBudget.perRealm) }

    /// Throws when there is no room for all promised connections and so many realms.
    package func require(realms count: Int) throws(Failure) {
        guard allowed < needed || count > realms else { return }
        let total = needed + count * DescriptorBudget.perRealm
        throw Failure(
            description: "\(limits.connections) connections, \(limits.spoolFiles) bodies in files and \(count) realms need "
                + "\(total) open files, but only \(allowed) are allowed; raise the limit (ulimit -n), or lower "
                + "--limit connections or spool-files")
    }
}
