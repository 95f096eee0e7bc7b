// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Snapshots: versions that a client holds for later reads, under a lease that expires.
struct SnapshotEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET` and `POST …/snapshots`.
    ///
    /// `GET` lists snapshots; `POST` holds the newest version and returns 201. Without a `ttl` in
    /// the body the lease has a default length.
    ///
    /// - Throws: `too_many_snapshots`, or the `Problem` of a wrong body.
    func snapshots(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try call.checkQueryNames()
        guard call.request.method == .post else { return .now(list(database, call)) }
        let ttl = try ttl(call) ?? min(PinnedVersions.defaultSeconds, Double(call.limits.snapshotSeconds))
        let lease = try server.pinned.pin(
            database, realm: database.name.text, client: holder(call), for: call, ttl: ttl)
        let free: @Sendable () -> Void = { [pinned = server.pinned, id = lease.id, realm = database.name.text] in
            _ = pinned.free(id, realm: realm, owner: nil)
        }
        // Before it was among the leases, a reload could not end it.
        if let problem = call.standing.problem {
            free()
            throw problem
        }
        call.takeBack = free
        var response = document(201, lease)
        response.addLocation(ObjectAddress.snapshot(database.name.text, lease.id))
        return .now(response)
    }

    /// Answers `GET`, `PATCH` and `DELETE …/snapshots/{id}`: describes, renews or releases a snapshot.
    ///
    /// Only `PATCH` and reads of the snapshot's version extend its life; `GET` here does not count as a use.
    ///
    /// - Throws: `not_found`, `snapshot_expired`, or the `Problem` of a wrong body.
    func snapshot(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        try call.checkQueryNames()
        let id = try call.match[.id]
        switch call.request.method {
        case .delete:
            guard server.pinned.free(id, realm: database.name.text, owner: call.ownerScope) else {
                throw Problem(.notFound, "there is no snapshot of this id")
            }
            var response = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
            response.addLiveVersions(of: database)
            return .now(response)
        case .patch:
            guard let ttl = try ttl(call) else {
                throw Problem(.invalidBody, "the body needs a 'ttl'").with("pointer", "/ttl")
            }
            return .now(document(200, try server.pinned.renew(id, in: database, ttl: ttl, owner: call.ownerScope)))
        default: return .now(document(200, try server.pinned.find(id, in: database, isUse: false, owner: call.ownerScope)))
        }
    }

    /// Returns the client that a snapshot is counted for: the principal, or on this machine the address.
    ///
    /// Strangers are kept apart from programs on this machine, even if the address is the same.
    private func holder(_ call: Call) -> String { call.sender.isEmpty ? call.request.client : call.sender }

    /// Returns the snapshots that a client may see.
    ///
    /// Local clients see all of them, other clients their own.
    private func list(_ database: Database, _ call: Call) -> Response {
        let owner = call.ownerScope
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        for lease in server.pinned.all(of: database) where owner ?? lease.owner == lease.owner {
            SnapshotEndpoints.write(lease, to: &writer)
        }
        writer.endArray()
        writer.nullMember("next")
        writer.endObject()
        var response = Response(unstored: writer.buffer, status: 200)
        response.addLiveVersions(of: database)
        return response
    }

    private func document(_ status: Int, _ lease: PinnedVersions.Lease) -> Response {
        var writer = JSONWriter()
        SnapshotEndpoints.write(lease, to: &writer)
        var response = Response(unstored: writer.buffer, status: status)
        response.add("Realm-Version", lease.version.tokenText)
        response.addLiveVersions(of: lease.database)
        return response
    }

    /// Writes one snapshot as JSON; `behind` counts the commits made since its version.
    private static func write(_ lease: PinnedVersions.Lease, to writer: inout JSONWriter) {
        let expires = WallClock(nanoseconds: WallClock.now().nanoseconds + Int64(lease.secondsLeft * 1e9))
        writer.beginObject()
        writer.member("id", text: lease.id)
        writer.member("version", text: lease.version.tokenText)
        writer.member("expiresAt", time: expires)
        writer.member("behind", int: lease.behind)
        writer.endObject()
    }

    /// Returns the length of the lease that the body requests, in seconds.
    ///
    /// - Returns: The length; nil for an empty body, or one without `ttl`.
    /// - Throws: `invalid_body` for other members, `invalid_parameter` for something that is not a
    ///   duration, or is above the limit of the server.
    private func ttl(_ call: Call) throws(Problem) -> Double? {
        _ = try call.bodyTypes.type(of: call.request)
        guard !call.request.body.bytes.isEmpty else { return nil }
        let body = try call.bodyObject()
        for member in body.members where member.name != "ttl" {
            throw Problem(.invalidBody, "a snapshot has no '\(member.name.truncated)'; it has 'ttl'").with(
                "pointer", "/" + member.name)
        }
        guard let value = body["ttl"], value != .null else { return nil }
        let maximum = Double(call.limits.snapshotSeconds)
        guard let time = value.string.flatMap(DurationText.duration), time > .zero, time.inSeconds <= maximum else {
            throw Problem.invalidParameter(
                "ttl", "'ttl' must be a duration of at most \(DurationText.text(.seconds(maximum))), such as \"60s\""
            )
            .with("pointer", "/ttl").with("limit", .integer(Int64(maximum)))
        }
        return time.inSeconds
    }
}
