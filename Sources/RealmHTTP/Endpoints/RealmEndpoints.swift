// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The realms of the server: listing, attaching and detaching them.
///
/// Work that waits for files is done by workers.
struct RealmEndpoints: Sendable {
    let server: ServerState

    /// The largest number of realms that are listed on the daemon's thread; longer lists are written by a worker.
    private static let shortList = 20
    /// The number of closed realms of a page whose files are read.
    private static let looks = 100

    /// Answers `GET /v1/realms` with a page of the descriptions of realms that the client may know of, by name, including those that
    /// are closed, being opened or have failed.
    ///
    /// - Parameter call: The call; administrators see sizes, paths and options besides.
    /// - Throws: `unknown_parameter`, `invalid_parameter` for a `limit` out of range, `cursor_invalid`.
    func list(_ call: Call) throws(Problem) -> Reply {
        let isShort =
            server.directory.cluster == nil && server.catalog.listedCount <= RealmEndpoints.shortList
            && server.catalog.isAllOpen(among: RealmEndpoints.shortList)
        return try Reply.reading(call, isShort: isShort) { () throws(Problem) in
            let parameters = try ParameterSet(call)
            let limit = try parameters.int("limit", in: 0...call.limits.page) ?? call.limits.page
            let after = try parameters.text("after").map { text throws(Problem) in try NameCursor(reading: text).name }
            let page = try server.directory.page(after: after, limit: limit, for: call)
            let next = page.hasMore ? page.realms.last.map { NameCursor($0.name).text } : nil
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("items")
            writer.beginArray()
            var looks = RealmEndpoints.looks
            for (name, state) in page.realms {
                if state.isClosed { looks -= 1 }
                try server.directory.write(name, state, to: &writer, for: call, looks: looks >= 0, isListed: true)
            }
            writer.endArray()
            if let next { writer.member("next", text: next) } else { writer.nullMember("next") }
            writer.endObject()
            var response = RealmEndpoints.json(writer.buffer)
            if let next { response.addNextPage("/v1/realms?limit=\(limit)&after=\(next)") }
            return response
        }
    }

    /// Answers `GET /v1/realms/{realm}` with the description of one realm. It lists the backups next to the file, too, for
    /// clients that may see all of the description.
    ///
    /// - Throws: `realm_not_found`, or `unknown_parameter` for any query parameter.
    func get(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        guard let name = call.match.decoded(.realm), let state = server.catalog[name] else { throw .noRealm }
        // Of a realm that is not open the file is read.
        return try Reply.reading(call, isShort: state.isReady) { () throws(Problem) in
            guard let state = server.catalog[name] else { throw .noRealm }
            var writer = JSONWriter()
            try server.directory.write(name, state, to: &writer, for: call, isDetailed: true, looks: true)
            var response = RealmEndpoints.json(writer.buffer)
            if case .ready(let database) = state { response.add("Realm-Version", database.current.tokenText) }
            return response
        }
    }

    /// Returns a response with a JSON document that clients must revalidate before they use it again.
    private static func json(_ buffer: OutputBuffer) -> Response {
        Response(type: "application/json", buffer, headers: [HeaderField("Cache-Control", "private, no-cache")])
    }

    // MARK: - Attaching

    /// Answers `POST /v1/realms`: opens a file under a name, and creates it if the request says so.
    ///
    /// - Parameter call: The call, with name, file and options in its body.
    /// - Returns: A reply that a worker completes when the realm is open; with `respond-async` 202
    ///   before that.
    /// - Throws: The `Problem` of a malformed body, or `precondition_failed` for `If-Match`. Problems of the file are in
    ///   the reply.
    func attach(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call)
        // The realm does not exist yet, so it has no version either.
        try options.condition.requireNothing()
        let attachment = try RealmAttachment(call, folder: server.catalog.folder)
        call.audit?.setRealm(attachment.name.text)
        if options.isDryRun { call.audit?.noteDryRun() }
        return server.directory.workers.reply(to: call) { promise in
            do throws(Problem) {
                guard server.catalog[attachment.name.text] == nil else { throw server.directory.taken(attachment.name) }
                var attachment = attachment
                try attachment.locate(in: server.directory.folders.attach, server.catalog.folder)
                if let path = attachment.source.path, server.catalog.isReplicated(atPath: path) {
                    try server.directory.cluster?.requireNew(attachment.name)
                }
                try begin(AttachOperation(attachment, call, server.directory, isDryRun: options.isDryRun), options, promise)
            } catch {
                promise.complete(Response(error, for: call))
            }
        }
    }

    /// Runs an attachment, or only tries it in a dry run. Called by a worker.
    ///
    /// The name is reserved before the file is opened, so that two requests cannot attach the same realm.
    ///
    /// - Parameters:
    ///   - operation: The attempt, which has not begun.
    ///   - options: The other options of the client.
    ///   - promise: Delivers the response.
    /// - Throws: A `Problem` that is known before the file is opened, such as a missing file or too
    ///   many realms.
    private func begin(_ operation: AttachOperation, _ options: WriteOptions, _ promise: any ResponsePromise) throws(Problem) {
        guard !options.isDryRun else {
            try server.directory.requireRoom()
            return operation.run(promise)
        }
        let attachment = operation.attachment
        // A missing file is reported without being opened.
        if let problem = attachment.missing() { throw problem }
        try server.directory.reserve(attachment)
        guard options.preferences.isAsynchronous else { return operation.run(promise) }
        let document = try server.directory.document(
            attachment.name.text, .opening(progress: 0), for: operation.call, backup: nil)
        var response = Response(unstored: document, status: 202)
        response.addLocation(ObjectAddress.realm(attachment.name.text))
        response.add("Preference-Applied", constant: "respond-async")
        promise.complete(response)
        operation.run(nil)
    }

    // MARK: - Detaching

    /// Answers `DELETE /v1/realms/{realm}`: closes a realm, and with `files=true` deletes its file.
    ///
    /// - Returns: A reply that a worker completes when the realm is closed, with 204.
    /// - Throws: `realm_not_found`, or the `Problem` of a wrong parameter.
    func detach(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call)
        let deletesFiles = try options.parameters.flag("files")
        if options.isDryRun { call.audit?.noteDryRun() }
        guard let name = call.match.decoded(.realm), server.catalog[name] != nil else { throw .noRealm }
        return server.directory.workers.reply(to: call) { promise in
            let operation = DetachOperation(name, deletesFiles: deletesFiles, if: options.condition, server.directory)
            if options.isDryRun { return promise.complete(operation.dryRun(call, options)) }
            operation.run(call, promise)
        }
    }

    // MARK: - Keys

    /// Answers `PUT /v1/realms/{realm}/key`: opens a realm that has failed with the key in the body.
    ///
    /// - Returns: A reply that a worker completes with 204 when the realm is open.
    /// - Throws: `invalid_body`; `already_attached` for a realm that is open. Problems of the file and the key are in
    ///   the reply.
    func putKey(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        // A realm that lacks its key has no version that could be demanded.
        try WriteCondition(call.request).require(nil)
        let reader = SchemaReader(place: InputPlace())
        let object = try reader.members(try call.request.body.takeJSON(call.limits.json), ["encryptionKey"], InputPlace())
        guard let key = try reader.key(object, "encryptionKey", InputPlace()) else {
            throw reader.malformed("'encryptionKey' is missing", InputPlace())
        }
        guard let name = call.match.decoded(.realm) else { throw .noRealm }
        return server.directory.workers.reply(to: call) { promise in
            do throws(Problem) {
                if server.directory.retry(name, with: key, promise) { return }
                try open(name, with: key)
                promise.complete(RealmDirectory.keyAccepted)
            } catch {
                promise.complete(Response(error, for: call))
            }
        }
    }

    /// The number of attempts at a realm that the server is just opening, with 10 ms in between.
    private static let keyAttempts = 500

    /// Opens a failed realm with a key. Called on a worker.
    private func open(_ name: String, with key: EncryptionKey) throws(Problem) {
        for _ in 0..<RealmEndpoints.keyAttempts {
            switch server.catalog[name] {
            case nil: throw .noRealm
            case .ready?: throw Problem(.alreadyAttached, "the realm is open already")
            case .opening?: throw Problem(.realmUnavailable, "the realm is being opened")
            case .closed?: _ = server.catalog.openNow(name)
            case .failed(let error)? where server.catalog.failedSource(name) == nil:
                throw Problem(opening: error)
            case .failed?:
                switch server.catalog.revive(name, with: key) {
                case .ready?: return
                case .failed(let error)?: throw Problem(opening: error)
                // The server is opening or closing it at the moment.
                case .opening?, .closed?, nil: System.pause(milliseconds: 10)
                }
            }
        }
        throw Problem(.realmUnavailable, "the file of the realm is in use or changing at the moment")
    }
}

/// The position at which a page of a list by name ended, such as that of the realms.
///
/// The text of a cursor is opaque to clients; it survives changes of the list.
private struct NameCursor: Sendable {
    /// The name after which the next page begins.
    let name: String

    /// Makes a cursor for the page after a name.
    init(_ name: String) { self.name = name }

    /// The text that clients send back as `after`.
    var text: String { "b64." + Base64.encode(Array(name.utf8), .url) }

    /// Reads the text of a cursor.
    ///
    /// - Throws: `cursor_invalid` for a text that no list has given out.
    init(reading text: String) throws(Problem) {
        guard text.hasPrefix("b64."), let bytes = Base64.decode(text.dropFirst(4), .url),
            let name = RealmName(String(decoding: bytes, as: UTF8.self))
        else { throw Problem(.cursorInvalid, "the cursor is damaged").with("parameter", "after") }
        self.name = name.text
    }
}
