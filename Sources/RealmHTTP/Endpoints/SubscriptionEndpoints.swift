// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Registered subscriptions: several definitions under names, which one stream delivers together.
struct SubscriptionEndpoints: Sendable {
    let server: ServerState

    /// Answers `POST …/subscriptions` on a worker, with 201 and the id and ticket of the registration.
    func post(_ call: Call) throws(Problem) -> Reply {
        server.workers.reply(to: call) { () throws(Problem) in try register(call) }
    }

    /// Reads the definitions, holds a feed for each of them, and aligns the feeds to one version.
    ///
    /// The place of the registration is reserved first, and released when a definition is wrong.
    ///
    /// - Returns: A reply that is completed when all feeds have reached the same version.
    /// - Throws: The `Problem` of a definition, with its place in the body, or `too_many_streams`.
    private func register(_ call: Call) throws(Problem) -> Reply {
        let context = try ReadContext(call)
        try call.checkQueryNames()
        let body = try call.bodyObject()
        let definitions = try SubscriptionDefinition.readAll(body, call.limits)
        let client = call.account
        let realm = try server.notifications.notifications(of: context.database, for: context.call.scope)
        try server.notifications.registrations.reserve(client, limit: call.caller.roleLimits?[.registrations])
        let holds: FeedHolds
        do throws(Problem) {
            holds = try hold(definitions, realm, for: call)
        } catch {
            server.notifications.registrations.giveBack(client)
            throw error
        }
        return .later { promise in
            // While all feeds are active each takes part in every round, so one version can be the start of all of them.
            for sub in holds.subs { sub.feed.activate() }
            let share = ObservedShare(server.notifications.slots.shares, of: client)
            realm.align(
                holds.subs, wantsContents: false, for: call.account, countedIn: share,
                until: call.request.deadline,
                isWanted: { [standing = call.standing] in call.request.isWanted && standing.isInForce }
            ) { result in
                for sub in holds.subs { sub.feed.deactivate() }
                promise.complete(register(holds, result, share, for: call))
            }
        }
    }

    /// Holds a feed for each definition. When one is wrong, those before it are released.
    ///
    /// - Throws: The `Problem` of the first wrong definition, with a pointer into the body.
    private func hold(
        _ definitions: [(name: String, definition: SubscriptionDefinition)], _ realm: RealmNotifications, for call: Call
    ) throws(Problem) -> FeedHolds {
        var subs: [ReadSubscription] = []
        for (name, definition) in definitions {
            do throws(Problem) {
                try call.request.checkDeadline()
                try realm.requireObservable(definition, for: call)
                let feed = try realm.feed(definition, within: call.request.budget)
                subs.append(ReadSubscription(name: name, feed: feed, skips: SkippedVersions()))
            } catch {
                for sub in subs { realm.release(sub.feed) }
                throw error.below("/subscriptions/" + JSONPointer.escape(name))
            }
        }
        return FeedHolds(subs, in: realm)
    }

    /// Makes the registration after its feeds were aligned. It releases them if that failed, the client has left, or its rights have ended
    /// or changed.
    ///
    /// - Parameters:
    ///   - result: The version that all of them start from, or the reason why there is none.
    ///   - share: The memory of the definitions, counted for the client.
    /// - Returns: The response to the client.
    private func register(
        _ holds: FeedHolds, _ result: Result<AlignedSubscriptions, Problem>, _ share: ObservedShare, for call: Call
    ) -> Response {
        let standing = call.standing
        let problem = standing.problem ?? (call.request.isWanted ? nil : Problem(WorkStop.cancelled))
        switch problem.map(Result.failure) ?? result {
        case .failure(let problem):
            server.notifications.registrations.giveBack(call.account)
            holds.release()
            return Response(problem, for: call)
        case .success(let aligned):
            let version = aligned.version.tokenText
            let registration = Registration(
                holds, for: call, version: version, seconds: call.limits.registrationSeconds,
                share: share, becameIdle: { [weak notifications = server.notifications] in notifications?.watchRegistrations() })
            server.notifications.registrations.add(registration)
            // Before it was in the table, a reload could not end it.
            if let problem = standing.problem {
                server.notifications.registrations.end(registration)
                return Response(problem, for: call)
            }
            call.takeBack = { [table = server.notifications.registrations] in table.end(registration) }
            server.notifications.watchRegistrations()
            var response = Response(unstored: registration.created, status: 201)
            response.addLocation(ObjectAddress.subscription(registration.notifications.database.name.text, registration.id))
            response.add("Realm-Version", version)
            call.versionToken = version
            return response
        }
    }

    /// Answers `GET` and `DELETE …/subscriptions/{id}`: describes or ends a registration.
    ///
    /// - Throws: `not_found` for an unknown id, `subscription_expired` for one that has ended.
    func subscription(_ call: Call) throws(Problem) -> Reply {
        let context = try ReadContext(call)
        try call.checkQueryNames()
        let id = try call.match[.id]
        if call.request.method == .delete {
            guard server.notifications.registrations.delete(id: id, in: context.database, for: call) else {
                throw SubscriptionEndpoints.unknown
            }
            var response = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
            response.add("Realm-Version", context.version.tokenText)
            return .now(response)
        }
        guard let registration = try server.notifications.registrations.find(id: id, in: context.database, for: call) else {
            throw SubscriptionEndpoints.unknown
        }
        var response = Response(unstored: registration.document, status: 200)
        response.add("Realm-Version", context.version.tokenText)
        return .now(response)
    }

    /// The problem of an id that is unknown, or belongs to another realm.
    private static let unknown = Problem(.notFound, "there is no registration of this id")
}
