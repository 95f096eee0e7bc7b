// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Creating, attaching and letting go of realms. All of it waits for files, so it is done by workers.
extension Application {
    /// `POST /v1/realms`
    func attachRealm(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call, types: WriteOptions.json)
        let attachment = try RealmAttachment(call, dataFolder: configuration.dataFolder)
        return onWorker(call) { [self] promise in
            do throws(Problem) {
                guard catalog[attachment.name.text] == nil else {
                    throw Problem(Catalog.Failure.alreadyAttached(attachment.name))
                }
                var attachment = attachment
                try attachment.locate(in: configuration.attachRoots)
                try begin(attachment, call, options, promise)
            } catch {
                promise.complete(response(to: error, for: call.request))
            }
        }
    }

    private func begin(
        _ attachment: RealmAttachment, _ call: Call, _ options: WriteOptions, _ promise: any ResponsePromise
    ) throws(Problem) {
        let attaching = Attaching(attachment, call, isDryRun: options.isDryRun)
        guard !options.isDryRun else {
            try requireRoomForRealm()
            return attaching.run(promise)
        }
        // What is not there does not have to be opened to be told.
        if let problem = attachment.missing() { throw problem }
        try reserve(attachment)
        guard options.preferences.isAsynchronous else { return attaching.run(promise) }
        var response = unstored(202, try realmDocument(attachment.name.text, call))
        response.addLocation(ObjectAddress.realm(attachment.name.text))
        response.add("Preference-Applied", constant: "respond-async")
        promise.complete(response)
        attaching.run(nil)
    }

    /// How writes wait in realms that are attached.
    var writeLimits: WriteLimits {
        WriteLimits(limits)
    }

    private func reserve(_ attachment: RealmAttachment) throws(Problem) {
        try requireRoomForRealm()
        do throws(Catalog.Failure) {
            try catalog.reserve(attachment.name, path: attachment.source.path, isRequested: true)
        } catch {
            throw Problem(error)
        }
    }

    /// Every realm takes threads, addresses and open files.
    private func requireRoomForRealm() throws(Problem) {
        guard catalog.count < configuration.realmLimit else {
            throw .overLimit(.tooManyRealms, "there are \(catalog.count) realms already", limit: configuration.realmLimit)
        }
    }

    // MARK: - Letting go

    /// `DELETE /v1/realms/{realm}`
    func detachRealm(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call, types: [], names: ["files"])
        let deletesFiles = try options.parameters.flag("files")
        guard let name = call.match.realmName, catalog[name] != nil else {
            throw Problem(.realmNotFound, "there is no realm of this name")
        }
        return onWorker(call) { [self] promise in
            let departure = RealmDeparture(name, deletesFiles: deletesFiles, self)
            if options.isDryRun { return promise.complete(departure.rehearse(call, options)) }
            departure.run(call, promise)
        }
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
