// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Detaches one realm, and deletes its files if the request asks for that.
///
/// It is made for one `DELETE /v1/realms/{realm}`. Everything that can be refused is checked before anything is done. Only
/// files in the data folder are deleted; files that were attached from elsewhere are only detached.
package struct DetachOperation: Sendable {
    /// The name of the realm to detach.
    private let name: String
    /// Whether the realm's file, and the files that belong to it, are deleted.
    private let deletesFiles: Bool
    /// The condition of the request on the version of the realm.
    private let condition: WriteCondition
    /// The realms of the server, one of which is detached.
    private let directory: RealmDirectory

    /// The databases of the server by name.
    private var catalog: Catalog { directory.catalog }

    /// Makes the operation of a realm. Nothing happens before `run`.
    ///
    /// - Parameters:
    ///   - deletesFiles: Whether to delete its files as well.
    ///   - condition: The condition under which that is done.
    ///   - directory: The realms of the server.
    package init(_ name: String, deletesFiles: Bool, if condition: WriteCondition, _ directory: RealmDirectory) {
        self.name = name
        self.deletesFiles = deletesFiles
        self.condition = condition
        self.directory = directory
    }

    /// Returns the response of a dry run: the one that `run` would give, without doing anything.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - options: The options of the write, which shape the response.
    package func dryRun(_ call: Call, _ options: WriteOptions) -> Response {
        do throws(Problem) {
            guard var state = catalog[name] else { throw Problem.noRealm }
            if case .closed = state, condition.namesVersion { state = try opened(catalog.openNow(name)) }
            try require(state)
            var version = ""
            if case .ready(let database) = state { version = database.current.tokenText }
            if deletesFiles { try requireDeletable(state) }
            return WriteDraft(status: 204, content: .none).response(.init(version: version, isCommitted: false), options)
        } catch {
            return Response(error, for: call)
        }
    }

    /// Detaches the realm, and deletes its files if requested. Called on a worker, as it waits for files.
    ///
    /// A realm that is still being opened, by an attach request or by the server itself, is cancelled first, and the response follows
    /// when nothing of it is left. A realm that a request is opening is opened to the end if the files are to be deleted or the request
    /// has a condition.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - promise: Receives 204, or the problem that kept the realm.
    package func run(_ call: Call, _ promise: any ResponsePromise) {
        let promise = deletesFiles ? deleting(promise) : promise
        do throws(Problem) {
            guard let state = begunState else { throw Problem.noRealm }
            if case .opening = state, let attach = directory.openings.withLock({ $0[name] }) {
                try condition.require(nil)
                if deletesFiles { try requireOwned(attach.attachment.source.path) }
                return cancel(attach, call, promise)
            }
            // Whether the file may be deleted, and its version, are known when it is open.
            if deletesFiles || condition.namesVersion, case .closed = state { return open(call, promise) }
            let response = try depart(state)
            catalog.whenOpeningsEnd(name) { promise.complete(response) }
        } catch {
            promise.complete(Response(error, for: call))
        }
    }

    /// The state of the realm, once an attach request that has reserved its name can be cancelled.
    private var begunState: Catalog.State? {
        for _ in 0..<100 {
            guard let state = catalog[name], isOpening(state), directory.openings.withLock({ $0[name] }) == nil else { break }
            System.pause(milliseconds: 10)
        }
        return catalog[name]
    }

    /// Records that the files of the realm are being deleted, until the promise is completed.
    private func deleting(_ promise: any ResponsePromise) -> any ResponsePromise {
        directory.deletions.withLock { $0[name, default: 0] += 1 }
        return DeletionPromise(promise, name, directory)
    }

    /// Completes a promise, and ends the note that the files of a realm are being deleted before.
    private final class DeletionPromise: ResponsePromise {
        private let promise: any ResponsePromise
        private let name: String
        private let directory: RealmDirectory

        init(_ promise: any ResponsePromise, _ name: String, _ directory: RealmDirectory) {
            self.promise = promise
            self.name = name
            self.directory = directory
        }

        func complete(_ response: Response) {
            directory.deletions.withLock { deletions in
                let count = (deletions[name] ?? 1) - 1
                deletions[name] = count > 0 ? count : nil
            }
            promise.complete(response)
        }

        func onDisconnect(_ action: @escaping @Sendable () -> Void) { promise.onDisconnect(action) }
    }

    /// Throws `precondition_failed` unless the condition of the request holds for a realm.
    private func require(_ state: Catalog.State) throws(Problem) {
        guard case .ready(let database) = state else { return try condition.require(nil) }
        try condition.require(database.current.token)
    }

    /// Returns the state of a realm that was opened for the request.
    ///
    /// - Throws: `realm_not_found` when it was detached in the meantime; `overloaded` when too many realms are in use.
    private func opened(_ result: Catalog.Waking) throws(Problem) -> Catalog.State {
        guard case .settled(let state) = result else { throw RealmDirectory.allInUse(limit: catalog.openLimit) }
        guard let state else { throw Problem.noRealm }
        return state
    }

    /// Opens a closed realm, and then detaches it and deletes its files like those of any other.
    private func open(_ call: Call, _ promise: any ResponsePromise) {
        catalog.wake(name) { [self] result in
            let continuation: @Sendable () -> Void = { [self] in
                do throws(Problem) {
                    promise.complete(try depart(try opened(result)))
                } catch {
                    promise.complete(Response(error, for: call))
                }
            }
            let isQueued = directory.workers.submitContinuation(for: call.account, continuation)
            if !isQueued { promise.complete(Response(.noWorker, for: call)) }
        }
    }

    /// The response to a successful detach request: 204, without a body.
    private static let done = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])

    /// Cancels an attach request that is in progress, and responds after it has ended.
    ///
    /// The realm may have been opened in that moment. Then it is detached like any other.
    private func cancel(_ attach: AttachOperation, _ call: Call, _ promise: any ResponsePromise) {
        attach.cancel { [self] in
            // It may have been completed in that moment, so that the realm is served.
            let continuation: @Sendable () -> Void = { [self] in
                do throws(Problem) {
                    if let state = catalog[name], !isOpening(state) { return promise.complete(try depart(state)) }
                    if deletesFiles, attach.attachment.exists, let path = attach.attachment.source.path {
                        try mapping { () throws(StorageError) in
                            try RealmFiles.delete(path, key: attach.attachment.settings.key)
                        }
                    }
                    promise.complete(DetachOperation.done)
                } catch {
                    promise.complete(Response(error, for: call))
                }
            }
            let isQueued = directory.workers.submitContinuation(for: call.account, continuation)
            if !isQueued { promise.complete(DetachOperation.done) }
        }
    }

    /// Whether a realm is still being opened.
    private func isOpening(_ state: Catalog.State) -> Bool {
        if case .opening = state { return true }
        return false
    }

    /// Deletes the files if requested, and detaches the realm. A realm whose file is missing is
    /// detached nevertheless, and the response is the problem.
    private func depart(_ state: Catalog.State) throws(Problem) -> Response {
        try require(state)
        if deletesFiles {
            do throws(Problem) {
                try delete(state)
            } catch {
                // Without a file there is nothing left to serve or to delete.
                if error.code == .fileNotFound { detach(state) }
                throw error
            }
        }
        detach(state)
        return DetachOperation.done
    }

    /// Ends all uses of the realm, and removes it from the catalog, which closes it.
    private func detach(_ state: Catalog.State) {
        if case .ready(let database) = state {
            directory.pinned.free(database)
            directory.notifications.close(database)
        }
        catalog.detach(name)
        _ = directory.attachedOptions.withLock { $0.removeValue(forKey: name) }
        directory.noteRefusal(nil, of: name)
        directory.forgetFailure(of: name)
        directory.forget(name)
        // A client may have subscribed between the first call and the detaching.
        if case .ready(let database) = state { directory.notifications.close(database) }
    }

    // MARK: - Files

    /// Deletes the file of a realm with the files that belong to it.
    private func delete(_ state: Catalog.State) throws(Problem) {
        try requireDeletable(state)
        switch state {
        case .ready(let database):
            try mapping { () throws(StorageError) in
                try catalog.dropHistory(of: database)
                try database.deleteFiles()
            }
        case .failed, .opening, .closed:
            guard let path = ownPath else { return }
            let key = catalog.failedSource(name)?.options.key
            try mapping { () throws(StorageError) in try RealmFiles.delete(path, key: key) }
        }
    }

    /// Throws the errors of `delete`, without changing anything: `not_owned`, `read_only`, or a problem of the file system.
    private func requireDeletable(_ state: Catalog.State) throws(Problem) {
        switch state {
        case .ready(let database):
            guard !database.path.isEmpty else { return }
            if database.mode == .copy {
                throw DetachOperation.notOwned("a private copy was served, and the file it was made of stays")
            }
            if database.mode == .follow {
                throw DetachOperation.notOwned("a followed file belongs to the program that writes it")
            }
            try requireOwned(database.path)
            guard database.isWritable else {
                throw Problem(.readOnly, "the file of this realm is read-only").with(
                    header: HeaderField("Allow", "GET, HEAD, DELETE, OPTIONS"))
            }
            try mapping { () throws(StorageError) in try database.requireDeletable() }
        case .failed, .opening, .closed:
            try requireOwned(catalog.path(of: name))
            guard let path = ownPath else { return }
            try mapping { () throws(StorageError) in try RealmFiles.requireDeletable(path) }
        }
    }

    /// The path of the file of a realm that is not open, if it is inside the data folder; nil for
    /// realms in memory and for other files.
    private var ownPath: String? { catalog.path(of: name).flatMap { directory.folders.data?.resolve($0) } }

    /// Throws `not_owned` for a path outside of the data folder: such files belong to the person who attached them.
    private func requireOwned(_ path: String?) throws(Problem) {
        guard let path else { return }
        guard directory.folders.data?.resolve(path) != nil else {
            throw DetachOperation.notOwned("only files in the data folder are deleted; this one was attached from elsewhere")
        }
    }

    /// Makes the problem `not_owned`, for a file that the server must not delete.
    private static func notOwned(_ detail: String) -> Problem { Problem(.notOwned, detail) }

    /// Runs a body that touches files, and turns its errors of the storage into problems.
    private func mapping(_ body: () throws(StorageError) -> Void) throws(Problem) {
        do throws(StorageError) { try body() } catch { throw Problem(opening: error) }
    }
}
