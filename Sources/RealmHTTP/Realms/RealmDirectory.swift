// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The realms of a server as clients see and change them: attached, detached, and described.
///
/// The catalog has the open databases; this adds what requests asked for and what is still being opened. Any thread may
/// use it.
final class RealmDirectory: Sendable {
    /// The open databases by name, and the names that are reserved.
    let catalog: Catalog
    /// How the server was started.
    let options: ServerOptions
    /// Where files may be.
    let folders: RealmFolders
    /// How many realms there may be.
    let realmLimit: Int
    /// Decides who is shown paths and options.
    let access: AccessPolicy
    /// Threads that may wait for files.
    let workers: WorkerPool
    /// Leases, which end with their realm.
    let pinned: PinnedVersions
    /// Streams and polls, which end with their realm.
    let notifications: ChangeService
    /// Realms that requests have asked for and that are being opened, by name.
    let openings = RankedMutex<[String: Attaching]>(.leaf, [:])
    /// The options that realms were attached with, by name, as JSON without keys.
    let attachedOptions = RankedMutex<[String: String]>(.leaf, [:])

    /// A directory over the parts of a server.
    init(
        catalog: Catalog, options: ServerOptions, folders: RealmFolders, realmLimit: Int, access: AccessPolicy,
        workers: WorkerPool, pinned: PinnedVersions, notifications: ChangeService
    ) {
        self.catalog = catalog
        self.options = options
        self.folders = folders
        self.realmLimit = realmLimit
        self.access = access
        self.workers = workers
        self.pinned = pinned
        self.notifications = notifications
    }

    /// Takes a name for a realm that is going to be attached.
    func reserve(_ attachment: RealmAttachment) throws(Problem) {
        try requireRoom()
        do throws(Catalog.Failure) {
            try catalog.reserve(attachment.name, path: attachment.source.path, isRequested: true)
        } catch {
            throw Problem(error)
        }
    }

    /// Throws `too_many_realms`: every realm takes threads, addresses and open files.
    func requireRoom() throws(Problem) {
        guard catalog.count < realmLimit else {
            throw .overLimit(.tooManyRealms, "there are \(catalog.count) realms already", limit: realmLimit)
        }
    }
}
