// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Versions that a client keeps for later reads.
extension Application {
    /// `GET` and `POST …/snapshots`
    func snapshots(_ call: Call) throws(Problem) -> Response {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        guard call.request.method == .post else { return listSnapshots(database, call.request) }
        try refuseTransaction(call, "a snapshot is of what is committed, and holds nothing of a transaction")
        let ttl = try Application.ttl(call) ?? min(PinnedVersions.defaultSeconds, Double(limits.snapshotSeconds))
        let lease = try pinned.pin(database, realm: database.name.text, client: holder(call.request), ttl: ttl)
        var response = snapshotDocument(201, lease)
        response.addLocation(ObjectAddress.snapshot(database.name.text, lease.id))
        return response
    }

    /// `GET`, `PATCH` and `DELETE …/snapshots/{id}`
    func snapshot(_ call: Call) throws(Problem) -> Response {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match.required(4, "id")
        switch call.request.method {
        case .delete:
            guard pinned.free(id, realm: database.name.text) else { throw Problem(.notFound, "there is no snapshot of this id") }
            var response = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
            addLiveVersions(of: database, to: &response)
            return response
        case .patch:
            guard let ttl = try Application.ttl(call) else {
                throw Problem(.invalidBody, "the body needs a 'ttl'").with("pointer", "/ttl")
            }
            return snapshotDocument(200, try pinned.renew(id, in: database, ttl: ttl))
        default: return snapshotDocument(200, try pinned.find(id, in: database, isUse: false))
        }
    }

    /// Whose snapshots they are: those of strangers are never those of a program on this machine.
    private func holder(_ request: Request) -> String {
        configuration.access.grant(request) > .read ? request.client : "stranger " + request.client
    }

    /// Strangers see their own only: the id of a snapshot is all it takes to end it.
    private func listSnapshots(_ database: Database, _ request: Request) -> Response {
        let holder = configuration.access.grant(request) > .read ? nil : self.holder(request)
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        for lease in pinned.all(of: database) where holder == nil || lease.client == holder {
            Application.write(lease, to: &writer)
        }
        writer.endArray()
        writer.nullMember("next")
        writer.endObject()
        var response = unstored(200, writer.buffer)
        addLiveVersions(of: database, to: &response)
        return response
    }

    private func snapshotDocument(_ status: Int, _ lease: PinnedVersions.Lease) -> Response {
        var writer = JSONWriter()
        Application.write(lease, to: &writer)
        var response = unstored(status, writer.buffer)
        response.add("Realm-Version", lease.version.tokenText)
        addLiveVersions(of: lease.database, to: &response)
        return response
    }

    private static func write(_ lease: PinnedVersions.Lease, to writer: inout JSONWriter) {
        let expires = WallClock(nanoseconds: WallClock.now().nanoseconds + Int64(lease.secondsLeft * 1e9))
        writer.beginObject()
        writer.member("id", text: lease.id)
        writer.member("version", text: lease.version.tokenText)
        writer.key("expiresAt")
        writer.value { buffer in
            buffer.append(UInt8(ascii: "\""))
            buffer.append(logTime: expires)
            buffer.append(UInt8(ascii: "\""))
        }
        writer.member("behind", int: lease.behind)
        writer.endObject()
    }

    func addLiveVersions(of database: Database, to response: inout Response) {
        response.add("Realm-Live-Versions", String(database.liveVersions))
    }

    /// The time that the body asks for, in seconds; nil when it does not say.
    private static func ttl(_ call: Call) throws(Problem) -> Double? {
        let types = ["application/json", "application/merge-patch+json"]
        try RequestBody.requireJSON(call.request, types)
        guard !call.request.body.isEmpty else { return nil }
        let body = try RequestBody.object(call.request, call.limits, types: types)
        for member in body.members where member.name != "ttl" {
            throw Problem(.invalidBody, "a snapshot has no '\(member.name)'").with("pointer", "/" + member.name)
        }
        guard let value = body["ttl"], value != .null else { return nil }
        let maximum = Double(call.limits.snapshotSeconds)
        guard let time = value.string.flatMap(DurationText.duration), time > .zero, time.inSeconds <= maximum else {
            throw Problem.invalidParameter(
                "ttl", "'ttl' has to be a duration of at most \(DurationText.text(.seconds(maximum))), such as \"60s\""
            )
            .with("pointer", "/ttl").with("limit", .integer(Int64(maximum)))
        }
        return time.inSeconds
    }
}

extension MetricsRegistry {
    func addSnapshots(_ pinned: PinnedVersions) {
        add { [weak pinned] text in
            guard let pinned else { return }
            text.single("snapshots", .gauge, "Versions that clients hold.", Double(pinned.count))
            text.single(
                "snapshots_dropped_total", .counter, "Snapshots ended because versions or disk space ran short.",
                Double(pinned.droppedCount))
        }
    }
}
