// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The realms that are served: listing, attaching and detaching them. Whatever waits for files is done by workers.
struct RealmEndpoints: Sendable {
    /// The realms of the server.
    let directory: RealmDirectory

    private var catalog: Catalog { directory.catalog }

    /// Realms that are listed on the daemon's thread.
    private static let shortList = 20

    /// `GET /v1/realms`
    func list(_ call: Call) throws(Problem) -> Reply {
        try Reply.reading(call.request, isShort: catalog.count <= RealmEndpoints.shortList) { () throws(Problem) in
            try QueryParameters(call.request.target).requireKnown([])
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("items")
            writer.beginArray()
            for (name, state) in catalog.all { try directory.write(name, state, to: &writer, for: call.request) }
            writer.endArray()
            writer.nullMember("next")
            writer.endObject()
            return RealmEndpoints.json(writer.buffer)
        }
    }

    /// `GET /v1/realms/{realm}`
    func get(_ call: Call) throws(Problem) -> Reply {
        try QueryParameters(call.request.target).requireKnown([])
        guard let name = call.match.decoded(.realm), let state = catalog[name] else { throw RealmDeparture.unknown }
        var writer = JSONWriter()
        try directory.write(name, state, to: &writer, for: call.request, listsBackups: true)
        var response = RealmEndpoints.json(writer.buffer)
        if case .ready(let database) = state { response.add("Realm-Version", database.current.tokenText) }
        return .now(response)
    }

    private static func json(_ buffer: OutputBuffer) -> Response {
        Response(type: "application/json", buffer, headers: [HeaderField("Cache-Control", "private, no-cache")])
    }

    // MARK: - Attaching

    /// `POST /v1/realms`
    func attach(_ call: WriteCall) throws(Problem) -> Reply {
        let options = try WriteOptions(call, types: WriteOptions.json)
        let attachment = try RealmAttachment(call, dataFolder: directory.options.dataFolder)
        return directory.workers.reply(to: call.request) { promise in
            do throws(Problem) {
                guard catalog[attachment.name.text] == nil else {
                    throw Problem(Catalog.Failure.alreadyAttached(attachment.name))
                }
                var attachment = attachment
                try attachment.locate(in: directory.folders.attach)
                try begin(Attaching(attachment, call, directory, isDryRun: options.isDryRun), options, promise)
            } catch {
                promise.complete(Response(error, for: call.request))
            }
        }
    }

    private func begin(_ attaching: Attaching, _ options: WriteOptions, _ promise: any ResponsePromise) throws(Problem) {
        guard !options.isDryRun else {
            try directory.requireRoom()
            return attaching.run(promise)
        }
        let attachment = attaching.attachment
        // What does not exist does not have to be opened to be reported.
        if let problem = attachment.missing() { throw problem }
        try directory.reserve(attachment)
        guard options.preferences.isAsynchronous else { return attaching.run(promise) }
        let document = try directory.document(attachment.name.text, for: attaching.request)
        var response = Response(unstored: document, status: 202)
        response.addLocation(ObjectAddress.realm(attachment.name.text))
        response.add("Preference-Applied", constant: "respond-async")
        promise.complete(response)
        attaching.run(nil)
    }

    // MARK: - Detaching

    /// `DELETE /v1/realms/{realm}`
    func detach(_ call: WriteCall) throws(Problem) -> Reply {
        let options = try WriteOptions(call, types: [], names: ["files"])
        let deletesFiles = try options.parameters.flag("files")
        guard let name = call.match.decoded(.realm), catalog[name] != nil else { throw RealmDeparture.unknown }
        return directory.workers.reply(to: call.request) { promise in
            let departure = RealmDeparture(name, deletesFiles: deletesFiles, directory)
            if options.isDryRun { return promise.complete(departure.rehearse(call, options)) }
            departure.run(call, promise)
        }
    }
}
