// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Registered subscriptions.
extension Application {
    /// `POST …/subscriptions`
    func registerSubscriptions(_ call: Call) throws(Problem) -> Reply {
        try refuseTransaction(call, "changes are not told inside a transaction")
        let context = try ReadContext(call)
        try QueryParameters(call.request.target).requireKnown([])
        let body = try RequestBody.object(call.request, limits)
        let definitions = try SubscriptionDefinition.readAll(body, limits)
        let client = call.request.client
        let realm = try notifications.notifications(of: context.database)
        try notifications.registrations.reserve(client)
        let subs: [ReadSubscription]
        do throws(Problem) {
            subs = try hold(definitions, realm)
        } catch {
            notifications.registrations.giveBack(client)
            throw error
        }
        return .later { [self] promise in
            // While all are active each is told of every round, so one version is a beginning for all of them.
            for sub in subs { sub.feed.activate() }
            realm.align(subs, wantsContents: false) { result in
                for sub in subs { sub.feed.deactivate() }
                promise.complete(self.register(subs, result, realm, call))
            }
        }
    }

    private func hold(
        _ definitions: [(name: String, definition: SubscriptionDefinition)], _ realm: RealmNotifications
    ) throws(Problem) -> [ReadSubscription] {
        var subs: [ReadSubscription] = []
        for (name, definition) in definitions {
            do throws(Problem) {
                subs.append(ReadSubscription(name: name, feed: try realm.feed(definition), skips: SkippedVersions()))
            } catch {
                for sub in subs { realm.release(sub.feed) }
                throw error.below("/subscriptions/" + JSONPointer.escape(name))
            }
        }
        return subs
    }

    private func register(
        _ subs: [ReadSubscription], _ result: Result<AlignedSubscriptions, Problem>, _ realm: RealmNotifications,
        _ call: Call
    ) -> Response {
        switch result {
        case .failure(let problem):
            notifications.registrations.giveBack(call.request.client)
            for sub in subs { realm.release(sub.feed) }
            return response(to: problem, for: call.request)
        case .success(let aligned):
            let version = aligned.version.tokenText
            let registration = Registration(
                subs, realm, client: call.request.client, version: version, seconds: limits.registrationSeconds,
                becameIdle: { [weak notifications] in notifications?.watchRegistrations() })
            notifications.registrations.add(registration)
            notifications.watchRegistrations()
            var response = unstored(201, registration.created)
            response.addLocation(ObjectAddress.subscription(realm.database.name.text, registration.id))
            response.add("Realm-Version", version)
            call.request.version = version
            return response
        }
    }

    /// `GET` and `DELETE …/subscriptions/{id}`
    func subscription(_ call: Call) throws(Problem) -> Response {
        let context = try ReadContext(call)
        try QueryParameters(call.request.target).requireKnown([])
        let id = try call.match.required(4, "id")
        if call.request.method == .delete {
            guard notifications.registrations.delete(id: id, in: context.database) else { throw Application.noRegistration }
            var response = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
            response.add("Realm-Version", context.version.tokenText)
            return response
        }
        guard let registration = try notifications.registrations.find(id: id, in: context.database) else {
            throw Application.noRegistration
        }
        var response = unstored(200, registration.document)
        response.add("Realm-Version", context.version.tokenText)
        return response
    }

    private static let noRegistration = Problem(.notFound, "there is no registration of this id")
}
