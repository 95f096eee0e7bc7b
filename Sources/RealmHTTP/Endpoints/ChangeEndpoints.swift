// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// `GET …/changes`: a stream of events, or one answer that waits for something to tell.
struct ChangeEndpoints: Sendable {
    /// Subscriptions of all realms.
    let notifications: ChangeService
    /// Where streams are shown to administrators.
    let leases: LeaseRegistry
    /// Ends polls whose time is over.
    let alarm: Alarm
    /// Threads for long definitions.
    let workers: WorkerPool

    /// `GET …/changes`. Reading and binding a long query takes its time, so a worker does that.
    func get(_ call: Call) throws(Problem) -> Reply {
        guard call.request.target.bytes.count + call.request.body.count > 1024 else { return try changes(call) }
        return workers.reply(to: call.request) { () throws(Problem) in try changes(call) }
    }

    private func changes(_ call: Call) throws(Problem) -> Reply {
        let url = Result { () throws(Problem) in try QueryParameters(call.request.target) }
        let isStream = call.request.headers[.accept].map { AcceptHeader($0).names("text/event-stream") } ?? false
        let format =
            isStream
            ? ResponseFormat.json
            : try ResponseFormat.negotiate(call.request, parameter: (try? url.get())?["format"], among: .documents)
        var request = try ChangeRequest(try url.get(), call, format, isStream: isStream)
        let context = try ReadContext(call)
        try call.refuseTransaction("changes are not told inside a transaction")
        let slot = try notifications.slots.take(call.request.client)
        let realm = try notifications.notifications(of: context.database)
        let (reader, registration) = try self.reader(&request, realm, call)
        call.request.version = context.version.tokenText
        guard isStream else {
            let options = LongPoll.Options(
                start: request.start, wantsSnapshots: request.wantsSnapshots, seconds: request.waitSeconds,
                representation: request.representation)
            return .later { promise in
                LongPoll(reader, realm, options, slot: slot, registration: registration, call, alarm, promise).begin()
            }
        }
        return .now(stream(request, reader, registration: registration, slot: slot, realm: realm, call, context: context))
    }

    private func stream(
        _ request: ChangeRequest, _ reader: ChangeReader, registration: Registration?, slot: StreamSlots.Slot,
        realm: RealmNotifications, _ call: Call, context: ReadContext
    ) -> Response {
        var options = EventStream.Options()
        options.start = request.start
        options.wantsSnapshots = request.wantsSnapshots
        options.sendsHeartbeatEvents = request.sendsHeartbeatEvents
        let leaseID = "e_" + RandomName.make()
        let stream = EventStream(
            reader, realm, options, slot: slot, registration: registration, requestID: call.request.id,
            didEnd: { [leases] in leases.remove(leaseID) })
        leases.add(
            LeaseRegistry.Lease(
                id: leaseID, kind: .stream, realm: realm.database.name.text, principal: nil,
                end: { [weak stream] in
                    stream?.hangUp()
                }))
        var response = Response(status: 200, body: .events(stream))
        response.add("Content-Type", constant: "text/event-stream")
        response.add("Cache-Control", constant: "no-store, no-transform")
        response.add("X-Accel-Buffering", constant: "no")
        response.add("Realm-Version", context.version.tokenText)
        response.closesConnection = true
        return response
    }

    /// The subscriptions that a request reads, held for it.
    private func reader(
        _ request: inout ChangeRequest, _ realm: RealmNotifications, _ call: Call
    ) throws(Problem) -> (ChangeReader, Registration?) {
        switch request.source {
        case .definition(let definition):
            let (feed, start) = try realm.feed(definition, from: request.start)
            request.start = start
            return (ChangeReader(subs: [ReadSubscription(name: "default", feed: feed, skips: nil)]), nil)
        case .registration(let id):
            let found = try notifications.registrations.find(id: id, in: realm.database)
            return try reader(found, request)
        case .ticket(let ticket):
            let found = try notifications.registrations.find(ticket: ticket, in: realm.database)
            return try reader(found, request)
        }
    }

    private func reader(_ found: Registration?, _ request: ChangeRequest) throws(Problem) -> (ChangeReader, Registration?) {
        guard let registration = found else { throw Problem(.notFound, "there is no such registration") }
        guard case .json = request.format else {
            throw Problem(.notAcceptable, "registered subscriptions are told in JSON")
        }
        return (ChangeReader(subs: registration.hold()), registration)
    }
}
