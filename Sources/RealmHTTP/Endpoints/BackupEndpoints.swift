// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage
internal import SystemPackage

/// Copies of a realm as compact files: sent to the client, or stored on the server.
///
/// A copy holds its version, not the writer: writes continue while it is made.
struct BackupEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET …/backup` with a Realm file: the newest version, that of a snapshot, or the
    /// uncommitted state of a transaction. An encrypted realm gives a file with the same key.
    ///
    /// - Returns: A reply that a worker makes, because it copies all data.
    /// - Throws: The `Problem` of a wrong parameter, or of an unknown snapshot.
    func get(_ call: Call) throws(Problem) -> Reply {
        let context = try context(call)
        return reply(call) { () throws(Problem) in
            try send(context, Database.CopyOptions(key: context.database.key, control: control(call)))
        }
    }

    /// Answers `POST …/backup`, which chooses the key of the copy, its classes and its target.
    ///
    /// - Parameter call: The call, with a `BackupRequest` in its body.
    /// - Returns: A reply that a worker makes: 200 with the file, or 201 when it was stored.
    /// - Throws: The `Problem` of a malformed body; `precondition_failed` when the copied version is not the one in `If-Match`;
    ///   `forbidden` for options of administrators.
    func post(_ call: Call) throws(Problem) -> Reply {
        let context = try context(call)
        try WriteCondition(call.request).require(context.version.token)
        let request = try BackupRequest(try call.request.body.readJSON(server.limits.json))
        if request.needsAdministrator, server.directory.access.grant(call.caller) < .administer {
            throw Problem(.forbidden, "only administrators may store copies on the server, or copy without the key")
        }
        // Copies go to folders that realms are served from. A credential for one realm must not reveal the other files there.
        if request.path != nil, call.caller.principal.realm != nil {
            throw Problem(.forbidden, "this credential is for one realm, so it may not store files on the server")
                .with("pointer", "/path")
        }
        return reply(call) { () throws(Problem) in
            let options = Database.CopyOptions(
                key: request.key(of: context.database), classes: try request.subset(of: context.snapshot),
                control: control(call))
            guard let path = request.path else { return try send(context, options) }
            let place = try AttachRoots.place(path, server.directory.folders.attach, "/path")
            return try store(context, at: place, as: try name(of: place), options)
        }
    }

    /// Chooses the version that is copied; the only parameters are `snapshot` and `version`.
    private func context(_ call: Call) throws(Problem) -> ReadContext {
        let parameters = try ParameterSet(call)
        // A copy of the file has everything.
        guard call.scope == nil else { throw AccessPolicy.forbiddenByRoles }
        return try ReadContext(call, snapshot: try parameters.text("snapshot"), version: try parameters.text("version"))
    }

    /// Returns a reply that a worker makes. Problems become responses.
    private func reply(_ call: Call, _ make: @escaping @Sendable () throws(Problem) -> Response) -> Reply {
        .work {
            do throws(Problem) {
                return try make()
            } catch {
                return Response(error, for: call)
            }
        }
    }

    /// Returns the control that ends a copy whose client has left, and one that takes too long: longer than a streamed response may,
    /// or, inside a transaction, than a read.
    private func control(_ call: Call) -> WorkControl {
        call.request.control(
            until: call.version == nil ? .now().adding(seconds: Double(server.limits.http.answerSeconds)) : call.request.deadline)
    }

    // MARK: - Sending

    /// Copies the version to a temporary file, and returns the response that sends it.
    private func send(_ context: ReadContext, _ options: Database.CopyOptions) throws(Problem) -> Response {
        let file: BodyFile
        let expected = context.database.usedBytes ?? 0
        do throws(StorageError) {
            file = try BodyFile.make(
                inOneOf: server.spoolFolders, try context.call.request.body.spool?.open(for: context.call.account))
        } catch {
            throw Problem(keepingCopy: error)
        }
        let digest = try Problem.mapping { () throws(StorageError) in
            try file.fill(expecting: expected) { backend throws(StorageError) in
                try context.database.writeCopy(of: context.snapshot, to: backend, options)
            }
            return try file.digest()
        }
        var response = Response(status: 200, body: .stream(FileProducer(file)))
        response.add("Content-Type", constant: "application/octet-stream")
        response.add("Realm-Version", context.version.tokenText)
        response.add("Cache-Control", constant: "no-store")
        response.add("Content-Disposition", "attachment; filename=\"\(context.database.name.text).realm\"")
        response.add("Repr-Digest", "sha-256=:\(Base64.encode(digest, .standard)):")
        return response
    }

    // MARK: - Storing

    /// Returns the name under which a file in the data folder will be served; nil for a file elsewhere.
    ///
    /// - Throws: `invalid_body` for a path that the folder does not list as a realm, `file_exists` for one that is taken,
    ///   `already_attached` when another file is served under the name.
    private func name(of path: String) throws(Problem) -> RealmName? {
        let exists = System.entry(atPath: path, followsLink: false) != nil
        guard server.directory.folders.data?.resolve(path) != nil else {
            if exists { throw BackupEndpoints.exists }
            return nil
        }
        guard let folder = server.directory.catalog.folder, let name = folder.servedName(ofPath: path) else {
            let rule = "\(RealmName.rule); the file is NAME.realm"
            throw Problem(.invalidBody, "a file in the data folder is served, so it needs a place and a name there: \(rule)")
                .with("pointer", "/path")
        }
        if exists { throw BackupEndpoints.exists }
        guard server.directory.catalog[name.text] == nil else {
            throw Problem(.alreadyAttached, "another file is served as '\(name)' already").with("pointer", "/path")
        }
        // A realm that was detached keeps its file, which may be in another folder of the data folder.
        guard folder.existingPath(of: name.text) == nil else { throw BackupEndpoints.exists }
        return name
    }

    /// Copies the version to a new file of the server, and describes it.
    ///
    /// The file gets its name when it is complete. One in the data folder is served from then on, as `name`.
    private func store(
        _ context: ReadContext, at path: String, as name: RealmName?, _ options: Database.CopyOptions
    ) throws(Problem) -> Response {
        let copy: (byteCount: Int, digest: [UInt8])
        let file: NewFile
        do throws(StorageError) {
            file = try NewFile(nextTo: path)
            try context.database.writeCopy(of: context.snapshot, to: file.backend(), options)
            let written = try BodyFile(reading: file.openPath)
            copy = (written.byteCount, try written.digest())
        } catch {
            throw BackupEndpoints.refusal(error)
        }
        // Copying may have taken long.
        try context.call.standing.require()
        do throws(StorageError) { try file.publish(as: path) } catch { throw BackupEndpoints.refusal(error) }
        let realm = context.database.name.text
        let location: String
        if let name {
            serve(name, path, options.key)
            location = ObjectAddress.realm(name.text)
        } else {
            location = ObjectAddress.backup(
                realm, server.backups.stored.add(path, of: realm, version: context.snapshot.version, copy).id)
        }
        return describe(path, copy, of: context, at: location)
    }

    /// Returns the problem of a copy that cannot be stored.
    private static func refusal(_ error: StorageError) -> Problem {
        error.errno == .fileExists ? exists : Problem(opening: error)
    }

    /// The problem of a path at which there is a file already.
    private static var exists: Problem {
        Problem(.fileExists, "there is a file at this path already").with("pointer", "/path")
    }

    /// Lists a copy in the data folder under the name of its file, so that the first request opens it. One with
    /// a key that the server does not know otherwise is opened now.
    private func serve(_ name: RealmName, _ path: String, _ key: EncryptionKey?) {
        server.directory.catalog.list(name)
        guard key != server.directory.options.keys[name.text], (try? server.directory.requireRoom()) != nil,
            (try? server.directory.catalog.reserve(name, path: path, isRequested: true)) != nil
        else { return }
        var opening = server.directory.options.openOptions
        opening.key = key
        opening.isExactPath = true
        server.directory.catalog.prepare(&opening, for: path)
        let state: Catalog.State
        do throws(StorageError) { state = .ready(try Database.open(name: name, path: path, opening)) } catch {
            state = .failed(error)
        }
        // A realm that was detached in the meantime stays so.
        try? server.directory.catalog.settle(name, state)
    }

    /// Makes the response for a stored copy, which is a realm or a backup at `location`.
    private func describe(
        _ path: String, _ copy: (byteCount: Int, digest: [UInt8]), of context: ReadContext, at location: String
    ) -> Response {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.member("path", text: path)
        writer.member("bytes", int: copy.byteCount)
        writer.member("sha256", text: Base64.encode(copy.digest, .standard))
        writer.member("version", text: context.version.tokenText)
        writer.endObject()
        var response = Response(unstored: writer.buffer, status: 201)
        response.add("Realm-Version", context.version.tokenText)
        response.addLocation(location)
        return response
    }
}
