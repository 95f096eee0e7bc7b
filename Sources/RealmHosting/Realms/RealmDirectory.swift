// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmCalls
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The realms of a server as clients see and change them: it attaches, detaches and describes them.
///
/// The catalog has the open databases. This adds the requested options, the realms that are being opened, and the rules about
/// folders and rights. There is one for a server, and the endpoints of realms use it. Any thread may call it.
package final class RealmDirectory: Sendable {
    /// The databases by name, with those that failed to open and the names that are reserved.
    package let catalog: Catalog
    /// The options of the server, which a reload changes.
    private let liveOptions: LiveOptions
    /// The options in force.
    package var options: ServerOptions { liveOptions.current }
    var defaultRealm: String { liveOptions.defaultRealm }
    /// The folders that paths in requests about realms may lead into.
    package let folders: RealmFolders
    /// The number of realms that the server may have: the configured limit, or less where the system allows few open files.
    package let realmLimit: Int
    /// The policy that decides which clients are shown paths and options.
    package let access: AccessPolicy
    /// The pool for attaching and detaching, which wait for files.
    package let workers: WorkerPool
    /// The snapshot leases, which end when their realm is detached.
    let pinned: PinnedVersions
    /// The streams and polls, which end when their realm is detached.
    package let notifications: ChangeService
    /// This server as a node of a cluster; nil for a single server.
    package let cluster: ClusterService?
    /// The attach requests in progress, by the name of their realm.
    let openings = RankedMutex<[ByteText: AttachOperation]>(.leaf, [:])
    /// The number of requests that are deleting the files of a realm, by its name.
    let deletions = RankedMutex<[ByteText: Int]>(.leaf, [:])
    /// The bodies of the requests that realms were attached with, as JSON without encryption keys,
    /// by the name of the realm. Administrators see them in the realm's document.
    package let attachedOptions = RankedMutex<[ByteText: String]>(.leaf, [:])
    /// The requests to attach realms in the background that have failed, by the name of the realm.
    let failedAttaches = RankedMutex<[ByteText: FailedAttach]>(.leaf, [:])
    /// The reasons why realms that were attached in the background have failed although their files can be opened, such as a
    /// schema that does not fit, by name. It holds realms that the catalog lists as failed.
    package let refusals = RankedMutex<[ByteText: Problem]>(.leaf, [:])

    /// The attached realms that are served again after the next start; nil without a data folder.
    let attachedRealms: AttachedRealms?

    /// Makes the directory of a server from its parts.
    ///
    /// - Parameters:
    ///   - catalog: The databases by name.
    ///   - folders: The folders that may have files.
    ///   - realmLimit: The configured or lower limit.
    ///   - access: The rules of access.
    ///   - workers: The pool for work that waits for files.
    ///   - pinned: The snapshot leases.
    ///   - notifications: The streams and polls.
    ///   - cluster: This server as a node of a cluster; nil for a single server.
    package init(
        catalog: Catalog, options: LiveOptions, folders: RealmFolders, realmLimit: Int, access: AccessPolicy,
        workers: WorkerPool, pinned: PinnedVersions, notifications: ChangeService, cluster: ClusterService? = nil
    ) {
        self.cluster = cluster
        self.catalog = catalog
        liveOptions = options
        let options = options.current
        self.folders = folders
        self.realmLimit = realmLimit
        self.access = access
        self.workers = workers
        self.pinned = pinned
        self.notifications = notifications
        attachedRealms = options.isReadOnly ? nil : options.dataFolder.map { AttachedRealms(dataFolder: $0) }
    }

    /// Makes `already_attached` for a name that a realm has; while that is being deleted, with the time after which it is free.
    package func taken(_ name: RealmName) -> Problem {
        var problem = Problem(Catalog.Failure.alreadyAttached(name))
        guard deletions.withLock({ $0[name.text] != nil }) else { return problem }
        problem.detail = "the realm of this name is being deleted; send the request again"
        return problem.with(header: Problem.soon)
    }

    /// Reserves the name and the path of a realm that is about to be attached.
    ///
    /// - Parameter attachment: The request, with its path resolved.
    /// - Throws: `too_many_realms` and `overloaded` at the limits, and `already_attached` when the name or the file
    ///   is in use.
    package func reserve(_ attachment: RealmAttachment) throws(Problem) {
        try takeRoom()
        defer { catalog.leaveRoom() }
        do throws(Catalog.Failure) {
            try catalog.reserve(
                attachment.name, path: attachment.source.path, isRequested: true,
                isOwner: attachment.settings.mode != .copy && attachment.settings.mode != .follow)
        } catch {
            throw Problem(error)
        }
    }

    /// Checks that there may be one more open realm, since each one takes addresses and open files. Unused realms are closed if
    /// that is necessary.
    ///
    /// - Throws: As `takeRoom`.
    package func requireRoom() throws(Problem) {
        try takeRoom()
        catalog.leaveRoom()
    }

    /// Reserves a place among the open realms, which the caller returns with `leaveRoom` of the catalog when it has reserved the
    /// name.
    ///
    /// - Throws: `too_many_realms` when the server has as many realms as `realmLimit` and cannot close one, `overloaded` when all
    ///   the realms that may be open are in use.
    private func takeRoom() throws(Problem) {
        let hasRoom = catalog.makeRoom()
        let count = catalog.count
        guard count < realmLimit else {
            if hasRoom { catalog.leaveRoom() }
            throw .overLimit(.tooManyRealms, "there are \(count) realms already", limit: realmLimit)
        }
        guard hasRoom else { throw RealmDirectory.allInUse(limit: catalog.openLimit) }
    }

    /// Does long work on a realm, which ends when the realm is detached.
    ///
    /// - Parameters:
    ///   - control: Cancels the work.
    ///   - body: The work, which checks the control. It is done on this thread.
    /// - Throws: The problem of the work, or `detached` when the control was cancelled.
    package func work<Result>(
        on name: String, _ control: WorkControl, _ body: () throws(Problem) -> Result
    ) throws(Problem) -> Result {
        do throws(Problem) {
            return try catalog.work(on: name, control, body)
        } catch {
            throw control.isCancelled ? detached(name) : error
        }
    }

    /// The problem of a request whose realm was detached: `realm_not_found`, or `realm_unavailable` if another realm has the name.
    package func detached(_ name: String) -> Problem {
        guard catalog[name] != nil else { return .noRealm }
        return Problem(.realmUnavailable, "the realm was closed or detached during the request")
    }

    /// The response to a key with which the realm was opened.
    package static let keyAccepted = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])

    /// The problem of a realm that would have to be opened while all realms that may be open are in use.
    package static func allInUse(limit: Int) -> Problem {
        var problem = Problem.overLimit(.overloaded, "the limit of open realms is reached, and all are in use", limit: limit)
        problem.retryAfterSeconds = 1
        return problem
    }
}
