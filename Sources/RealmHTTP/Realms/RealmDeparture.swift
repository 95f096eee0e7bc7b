// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// Lets go of a realm, and deletes its files if that is wanted: all or nothing, and only files that are the server's own.
struct RealmDeparture: Sendable {
    private let name: String
    private let deletesFiles: Bool
    private let directory: RealmDirectory

    private var catalog: Catalog { directory.catalog }

    /// The end of the realm called `name`, with its files if they are to be deleted.
    init(_ name: String, deletesFiles: Bool, _ directory: RealmDirectory) {
        self.name = name
        self.deletesFiles = deletesFiles
        self.directory = directory
    }

    /// What would happen.
    func rehearse(_ call: WriteCall, _ options: WriteOptions) -> Response {
        do throws(Problem) {
            guard let state = catalog[name] else { throw RealmDeparture.unknown }
            var version = ""
            if case .ready(let database) = state { version = database.current.tokenText }
            if deletesFiles { try requireDeletable(state) }
            return WriteDraft(status: 204, content: .none).response(.init(version: version, isCommitted: false), options)
        } catch {
            return Response(error, for: call.request)
        }
    }

    /// Does it; on a thread that may wait. A realm that is still being opened is let go of when that has stopped.
    func run(_ call: WriteCall, _ promise: any ResponsePromise) {
        do throws(Problem) {
            guard let state = catalog[name] else { throw RealmDeparture.unknown }
            if case .opening = state, let attaching = directory.openings.withLock({ $0[name] }) {
                if deletesFiles { try requireOwned(attaching.attachment.source.path) }
                return cancel(attaching, call, promise)
            }
            promise.complete(try depart(state))
        } catch {
            promise.complete(Response(error, for: call.request))
        }
    }

    /// There is no realm of the name in the path.
    static let unknown = Problem(.realmNotFound, "there is no realm of this name")
    private static let done = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])

    private func cancel(_ attaching: Attaching, _ call: WriteCall, _ promise: any ResponsePromise) {
        attaching.cancel { [self] in
            // It may have come to its end in that moment, and is served.
            let goOn: @Sendable () -> Void = { [self] in
                do throws(Problem) {
                    if let state = catalog[name], !isOpening(state) { return promise.complete(try depart(state)) }
                    if deletesFiles, attaching.attachment.exists, let path = attaching.attachment.source.path {
                        try mapping { () throws(StorageError) in try RealmFiles.delete(path, key: attaching.attachment.key) }
                    }
                    promise.complete(RealmDeparture.done)
                } catch {
                    promise.complete(Response(error, for: call.request))
                }
            }
            let isQueued = directory.workers.submitContinuation(for: call.request.client, goOn)
            if !isQueued { promise.complete(RealmDeparture.done) }
        }
    }

    private func isOpening(_ state: Catalog.State) -> Bool {
        if case .opening = state { return true }
        return false
    }

    private func depart(_ state: Catalog.State) throws(Problem) -> Response {
        if deletesFiles {
            do throws(Problem) {
                try delete(state)
            } catch {
                // There is nothing left that could be served, or deleted.
                if error.code == .fileNotFound { detach(state) }
                throw error
            }
        }
        detach(state)
        return RealmDeparture.done
    }

    private func detach(_ state: Catalog.State) {
        if case .ready(let database) = state {
            directory.pinned.free(database)
            directory.notifications.close(database)
        }
        catalog.detach(name)
        _ = directory.attachedOptions.withLock { $0.removeValue(forKey: name) }
        // Whoever came in between finds a realm that is closed.
        if case .ready(let database) = state { directory.notifications.close(database) }
    }

    // MARK: - Files

    private func delete(_ state: Catalog.State) throws(Problem) {
        try requireDeletable(state)
        switch state {
        case .ready(let database): try mapping { () throws(StorageError) in try database.deleteFiles() }
        case .failed, .opening:
            guard let path = ownPath else { return }
            try mapping { () throws(StorageError) in try RealmFiles.delete(path) }
        }
    }

    /// Throws what deleting would throw, before anything is done.
    private func requireDeletable(_ state: Catalog.State) throws(Problem) {
        switch state {
        case .ready(let database):
            guard !database.path.isEmpty else { return }
            if database.mode == .copy {
                throw RealmDeparture.notOwned("a private copy was served, and the file it was made of stays")
            }
            try requireOwned(database.path)
            guard database.isWritable else {
                throw Problem(.readOnly, "the file of this realm is only read").with(
                    header: HeaderField("Allow", "GET, HEAD, DELETE, OPTIONS"))
            }
            try mapping { () throws(StorageError) in try database.requireDeletable() }
        case .failed, .opening:
            try requireOwned(catalog.path(of: name))
            guard let path = ownPath else { return }
            try mapping { () throws(StorageError) in try RealmFiles.requireDeletable(path) }
        }
    }

    /// Where the file of a realm that is not open is; nil for realms in memory, and what lies elsewhere.
    private var ownPath: String? { catalog.path(of: name).flatMap { directory.folders.data?.resolve($0) } }

    /// Files that were attached from elsewhere belong to whoever put them there.
    private func requireOwned(_ path: String?) throws(Problem) {
        guard let path else { return }
        guard directory.folders.data?.resolve(path) != nil else {
            throw RealmDeparture.notOwned("only files in the data folder are deleted; this one was attached from elsewhere")
        }
    }

    private static func notOwned(_ detail: String) -> Problem { Problem(.notOwned, detail) }

    private func mapping(_ body: () throws(StorageError) -> Void) throws(Problem) {
        do throws(StorageError) { try body() } catch { throw Problem(opening: error) }
    }
}
