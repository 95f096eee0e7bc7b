// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The backups of a realm: listing, making, reading and deleting them. All work is done by workers.
struct BackupListEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET …/backups` with all backups of a realm, the newest first.
    ///
    /// - Throws: `unknown_parameter` for any query parameter.
    func list(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        let realm = try call.match[.realm]
        return reply(call) { () throws(Problem) in
            let (list, failure) = server.backups.list(of: realm)
            var writer = JSONWriter(reservingCapacity: 256 + 256 * list.count)
            writer.beginObject()
            writer.key("items")
            writer.beginArray()
            for backup in list { backup.write(to: &writer) }
            writer.endArray()
            writer.nullMember("next")
            if let planned = server.backups.planned { planned.status(of: realm).write(to: &writer, failure) }
            writer.endObject()
            return Response(unstored: writer.buffer)
        }
    }

    /// Answers `POST …/backups`: makes a backup of the newest version now.
    ///
    /// - Parameter call: The call, without a body.
    /// - Returns: A reply with 201, the description of the backup and its `Location`.
    /// - Throws: `unknown_parameter`, `precondition_failed` when the realm has another version than `If-Match` demands, or
    ///   the problem of a realm that is not open.
    func make(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        let database = try call.database()
        let version = database.current
        try WriteCondition(call.request).require(version.token)
        return reply(call) { () throws(Problem) in
            let control = WorkControl(deadline: .now().adding(seconds: Double(server.limits.http.answerSeconds)))
            var backup = try server.backups.make(of: version, in: database, control)
            backup.digest = try digest(of: backup, call)
            var response = describe(backup, status: 201)
            response.addLocation(ObjectAddress.backup(database.name.text, backup.id))
            return response
        }
    }

    /// Answers `GET …/backups/{id}` with the description of a backup, or with its file to clients that
    /// name `application/octet-stream` in `Accept` or follow a link with `download`, perhaps with a name.
    ///
    /// - Throws: `unknown_parameter`, or `not_acceptable`. An unknown id is in the reply.
    func get(_ call: Call) throws(Problem) -> Reply {
        let url = try QueryParameters(call.request.target)
        try url.requireKnown(call.queryNames)
        let download = url["download"]
        let format =
            download == nil ? try ResponseFormat.negotiate(call.request, parameter: nil, among: [.documents, .octets]) : .octets
        let (realm, id) = (try call.match[.realm], try call.match[.id])
        return reply(call) { () throws(Problem) in
            var backup = try server.backups.find(id, of: realm)
            guard format == .octets else {
                backup.digest = try server.backups.knownDigest(of: backup)
                backup.digest = try digest(of: backup, call)
                return describe(backup, status: 200)
            }
            let file = try server.backups.open(backup, for: call, call.request.control())
            backup.digest = try Problem.stored(file.digest())
            return send(file, backup, as: download.flatMap { $0.isEmpty ? nil : $0 } ?? backup.fileName)
        }
    }

    /// Answers `DELETE …/backups/{id}`: deletes the file of a backup, with 204.
    ///
    /// - Throws: `unknown_parameter`, or `precondition_failed` when the realm has another version than `If-Match` demands.
    ///   An unknown id is in the reply.
    func delete(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        let (realm, id) = (try call.match[.realm], try call.match[.id])
        try WriteCondition(call.request).require((try? call.database())?.current.token)
        return reply(call) { () throws(Problem) in
            try server.backups.delete(try server.backups.find(id, of: realm))
            return Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
        }
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

    /// Returns the SHA-256 of a backup, which reads the whole file unless it is known.
    private func digest(of backup: Backup, _ call: Call) throws(Problem) -> [UInt8] {
        if let digest = backup.digest { return digest }
        let file = try server.backups.open(backup, for: call, call.request.control())
        return try Problem.stored(file.digest())
    }

    private func describe(_ backup: Backup, status: Int) -> Response {
        var writer = JSONWriter(reservingCapacity: 256)
        backup.write(to: &writer)
        return Response(unstored: writer.buffer, status: status)
    }

    private func send(_ file: BodyFile, _ backup: Backup, as name: String) -> Response {
        var response = Response(status: 200, body: .stream(FileProducer(file)))
        response.add("Content-Type", constant: "application/octet-stream")
        response.add("Cache-Control", constant: "no-store")
        response.add("Content-Disposition", ContentDisposition.attachment(name))
        if let digest = backup.digest { response.add("Repr-Digest", "sha-256=:\(Base64.encode(digest, .standard)):") }
        return response
    }
}
