// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The feed of changes, `GET …/changes`: a stream of Server-Sent Events, or a long-poll.
struct ChangeEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET …/changes`.
    ///
    /// A request of up to 1024 bytes is handled on this thread. Parsing and binding a longer query
    /// takes time, so a worker does that.
    ///
    /// - Parameter call: The call, with a definition or a registration in its parameters.
    /// - Returns: A stream of events when `Accept` names `text/event-stream`; otherwise a reply
    ///   that is completed when there is a change or the waiting time ends.
    /// - Throws: The `Problem` of a wrong parameter, or `too_many_streams` and `overloaded` when
    ///   the client or the server has too many streams.
    func get(_ call: Call) throws(Problem) -> Reply {
        guard call.request.target.bytes.count + call.request.body.bytes.count > 1024 else { return try changes(call) }
        return server.workers.reply(to: call) { () throws(Problem) in try changes(call) }
    }

    /// Reads the parameters, takes a place among the streams, and begins a stream or a long-poll.
    ///
    /// The stream or poll holds the place as a `StreamSlots.Slot`, whose release at its end gives the place back.
    ///
    /// - Throws: The problems of `get(_:)`.
    private func changes(_ call: Call) throws(Problem) -> Reply {
        let url = Result { () throws(Problem) in try QueryParameters(call.request.target) }
        let isStream = call.request[.accept].map { AcceptHeader($0).names("text/event-stream") } ?? false
        let format =
            isStream
            ? ResponseFormat.json
            : try ResponseFormat.negotiate(call.request, parameter: (try? url.get())?["format"], among: .documents)
        var request = try ChangeRequest(try url.get(), call, format, isStream: isStream)
        let context = try ReadContext(call)
        let slot = try server.notifications.slots.take(call.account, limit: call.caller.roleLimits?[.streams])
        let realm = try server.notifications.notifications(of: context.database, for: context.call.scope)
        let (holds, registration) = try self.holds(&request, realm, call)
        call.versionToken = context.version.tokenText
        guard isStream else {
            let options = LongPoll.Options(
                start: request.start, wantsSnapshots: request.wantsSnapshots, seconds: request.waitSeconds,
                representation: request.representation)
            return .later { promise in
                LongPoll(holds, options, slot: slot, registration: registration, call, server.timers, promise).begin()
            }
        }
        return .now(stream(request, holds, registration: registration, slot: slot, call, context: context))
    }

    /// Makes the response that is a stream of events, and registers the stream as a lease.
    ///
    /// The connection is closed after the stream, and header fields forbid proxies to store or transform it.
    ///
    /// - Parameters:
    ///   - request: The parameters of the client.
    ///   - holds: The subscriptions that the stream delivers.
    ///   - registration: The registration that they belong to; nil for a definition in the
    ///     request.
    ///   - slot: The place among the streams.
    ///   - context: The version at which the stream begins.
    private func stream(
        _ request: ChangeRequest, _ holds: FeedHolds, registration: Registration?, slot: StreamSlots.Slot, _ call: Call,
        context: ReadContext
    ) -> Response {
        var options = EventStream.Options()
        options.start = request.start
        options.wantsSnapshots = request.wantsSnapshots
        options.sendsHeartbeatEvents = request.sendsHeartbeatEvents
        let leaseID = "e_" + RandomName.make()
        let stream = EventStream(
            holds, options, slot: slot, registration: registration, call,
            didEnd: { [leases = server.leases] in leases.remove(leaseID) })
        server.leases.add(
            LeaseRegistry.Lease(
                id: leaseID, kind: .stream, realm: context.database.name.text, principal: call.caller.principal.logName,
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

    /// Finds or begins the subscriptions that a request reads, and holds them for it.
    ///
    /// - Parameters:
    ///   - request: The parameters of the client. Its start position is replaced when the feed
    ///     chooses another one.
    /// - Returns: The subscriptions with their holds, and the registration that they belong to, if any.
    /// - Throws: `not_found` for an unknown registration, or the `Problem` of a wrong definition.
    private func holds(
        _ request: inout ChangeRequest, _ realm: RealmNotifications, _ call: Call
    ) throws(Problem) -> (FeedHolds, Registration?) {
        switch request.source {
        case .definition(let definition):
            try realm.requireObservable(definition, for: call)
            let (feed, start) = try realm.feed(definition, from: request.start, within: call.request.budget)
            request.start = start
            return (FeedHolds([ReadSubscription(name: "default", feed: feed, skips: nil)], in: realm), nil)
        case .registration(let id):
            let found = try server.notifications.registrations.find(id: id, in: realm.database, for: call)
            return try holds(found, request)
        case .ticket(let ticket):
            let found = try server.notifications.registrations.find(ticket: ticket, in: realm.database, for: call)
            return try holds(found, request)
        }
    }

    /// Holds the subscriptions of a registration. They are encoded in JSON, so Extended JSON is not available here.
    ///
    /// - Throws: `not_found` when there is no registration, `not_acceptable` for another
    ///   representation.
    private func holds(_ found: Registration?, _ request: ChangeRequest) throws(Problem) -> (FeedHolds, Registration?) {
        guard let registration = found else { throw Problem(.notFound, "there is no such registration") }
        guard case .json = request.format else {
            throw Problem(.notAcceptable, "registered subscriptions are delivered in JSON")
        }
        return (registration.hold(), registration)
    }
}
