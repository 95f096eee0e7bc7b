// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Creating, attaching and letting go of realms. All of it waits for files, so it is done by workers.
extension Application {
    /// `POST /v1/realms`
    func attachRealm(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call, types: WriteOptions.json)
        let attachment = try RealmAttachment(call, dataFolder: configuration.dataFolder)
        if options.isDryRun { return onWorker(call) { promise in promise.complete(self.rehearse(attachment, call, options)) } }
        try reserve(attachment)
        let attaching = Attaching(attachment, call, options)
        guard options.preferences.isAsynchronous else { return onWorker(call) { promise in attaching.run(promise) } }
        let isQueued = workers.withLock { $0 }?.submitContinuation(for: call.request.client) { attaching.run(nil) } ?? false
        guard isQueued else {
            catalog.remove(attachment.name.text)
            throw Problem.noWorker
        }
        var response = unstored(202, try realmDocument(attachment.name.text, call))
        response.add("Location", ObjectAddress.realm(attachment.name.text))
        response.add("Preference-Applied", constant: "respond-async")
        return .now(response)
    }

    /// How writes wait in realms that are attached.
    var writeLimits: WriteLimits {
        WriteLimits(limits)
    }

    private func reserve(_ attachment: RealmAttachment) throws(Problem) {
        if attachment.source.path != nil, catalog.count >= configuration.realmRoom {
            throw .overLimit(.overloaded, "the server may not open the files of another realm", limit: configuration.realmRoom)
        }
        do throws(Catalog.Failure) {
            try catalog.reserve(attachment.name)
        } catch {
            throw Problem(error)
        }
    }

    /// What would happen, without doing it.
    private func rehearse(_ attachment: RealmAttachment, _ call: Call, _ options: WriteOptions) -> Response {
        do throws(Problem) {
            guard catalog[attachment.name.text] == nil else {
                throw Problem(.alreadyAttached, "there is a realm of this name already")
            }
            if let problem = attachment.served(by: catalog) { throw problem }
            let exists = attachment.source.path.map { RealmFiles.exists($0) } ?? false
            if case .new = attachment.source, exists, attachment.seed == nil { throw Problem(.fileExists, "there is a file of this name already") }
            var writer = JSONWriter()
            if exists, let path = attachment.source.path {
                try writeDocument(ofFile: path, attachment, call, to: &writer)
            } else {
                writer.beginObject()
                writer.member("name", text: attachment.name.text)
                writer.member("exists", bool: false)
                writer.endObject()
            }
            var status = 201
            if case .file = attachment.source, !exists, attachment.seed == nil { status = 404 }
            let draft = WriteDraft(status: status, content: .document(writer.buffer))
            var response = draft.response(.init(version: "", isCommitted: false), options)
            response.headers.removeAll { $0.name.description == "Realm-Version" }
            return response
        } catch {
            return self.response(to: error, for: call.request)
        }
    }

    private func writeDocument(
        ofFile path: String, _ attachment: RealmAttachment, _ call: Call, to writer: inout JSONWriter
    ) throws(Problem) {
        do throws(StorageError) {
            let database = try Database(name: attachment.name, path: path, key: attachment.key)
            let members = JSONWriter(reservingCapacity: 512)
            do throws(Problem) {
                var inner = members
                try write(attachment.name.text, .ready(database), to: &inner, call)
            } catch {
                throw StorageError.limit(error.detail)
            }
            // The document without its last brace, and one member more.
            members.buffer.truncate(to: members.buffer.count - 1)
            members.buffer.append(",\"exists\":true}" as StaticString)
            writer.raw(members.buffer.array)
        } catch {
            throw Problem(opening: error)
        }
    }

    /// `DELETE /v1/realms/{realm}`
    func detachRealm(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call, types: [], names: ["files"])
        let deletesFiles = try options.parameters.flag("files")
        guard let name = call.match.realmName, let state = catalog[name] else {
            throw Problem(.realmNotFound, "there is no realm of this name")
        }
        if case .ready(let database) = state, deletesFiles, !database.isWritable {
            throw Problem(.readOnly, "the file of this realm is only read").with(header: HeaderField("Allow", "GET, HEAD, DELETE, OPTIONS"))
        }
        if options.isDryRun {
            let version = if case .ready(let database) = state { database.current.tokenText } else { "" }
            return .now(WriteDraft(status: 204, content: .none).response(.init(version: version, isCommitted: false), options))
        }
        return onWorker(call) { [self] promise in promise.complete(detach(name, deletesFiles: deletesFiles, call)) }
    }

    private func detach(_ name: String, deletesFiles: Bool, _ call: Call) -> Response {
        guard let state = catalog[name] else {
            return response(to: Problem(.realmNotFound, "there is no realm of this name"), for: call.request)
        }
        if case .ready(let database) = state { pinned.free(database) }
        if case .ready(let database) = state { notifications.close(database) }
        catalog.detach(name)
        _ = attachedOptions.withLock { $0.removeValue(forKey: name) }
        // Whoever came in between finds a realm that is closed.
        if case .ready(let database) = state { notifications.close(database) }
        if case .ready(let database) = state, deletesFiles {
            do throws(StorageError) {
                try database.deleteFiles()
            } catch {
                return response(to: Problem(opening: error), for: call.request)
            }
        }
        return Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
    }

    /// Has work done by a worker that completes the answer itself.
    private func onWorker(_ call: Call, _ work: @escaping @Sendable (any ResponsePromise) -> Void) -> Reply {
        .later { [self] promise in
            let isQueued = workers.withLock { $0 }?.submit(for: call.request.client) { work(promise) } ?? false
            guard !isQueued else { return }
            promise.complete(response(to: Problem.noWorker, for: call.request))
        }
    }

    /// The document of a realm.
    func realmDocument(_ name: String, _ call: Call) throws(Problem) -> OutputBuffer {
        guard let state = catalog[name] else { throw Problem(.realmNotFound, "there is no realm of this name") }
        var writer = JSONWriter()
        try write(name, state, to: &writer, call)
        return writer.buffer
    }
}
