// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension Application {
    /// Answers a call: from what is known, or by its endpoint.
    func dispatch(_ call: Call) throws(Problem) -> Reply {
        if call.isWrite { return try writeReply(call) }
        if case .ready(let database)? = call.request.realm, let other = try otherVersion(call, database) { return other }
        guard call.match.template.isRepeatable, case .ready(let database)? = call.request.realm else {
            return try reply(of: call)
        }
        let version = database.current.tokenText
        if let known = answers.answer(to: call.request, version: version) {
            call.request.version = version
            return .now(known)
        }
        switch try reply(of: call) {
        case .now(let response):
            answers.note(response, to: call.request)
            return .now(response)
        case .work(let work):
            return .work { [answers] in
                let response = work()
                answers.note(response, to: call.request)
                return response
            }
        case .later(let begin): return .later(begin)
        }
    }

    /// A read that asks for another state than the newest version as it is now.
    private func otherVersion(_ call: Call, _ database: Database) throws(Problem) -> Reply? {
        if let id = call.request.headers[.realmTransaction], call.match.template.readsContents {
            return readInTransaction(call, id, database)
        }
        guard let text = call.request.headers[.realmMinVersion], database.isWritable, let wanted = VersionToken(text),
            wanted.epoch == database.epoch.text, wanted.version > database.current.token.version
        else { return nil }
        return readWhenReached(wanted.version, call, database)
    }

    /// Finds the endpoint of a call that reads.
    func reply(of call: Call) throws(Problem) -> Reply {
        switch call.match.template {
        case .healthz: return .now(try health(call))
        case .readyz: return .now(try readiness(call))
        case .metrics: return .now(try metricsText(call))
        case .adminLeases: return .now(try leases(call))
        case .adminLease: return .now(try endLease(call))
        case .adminConfig: return .now(try adminConfiguration(call))
        case .realms: return .now(try realms(call))
        case .realm: return .now(try realm(call))
        case .schema, .schemaClass: return try described(call) { call throws(Problem) in try self.schema(call) }
        case .openAPI: return .now(try openAPI(call))
        case .realmOpenAPI: return try described(call) { call throws(Problem) in try self.realmOpenAPI(call) }
        case .object: return .now(try object(call))
        case .property: return .now(try property(call))
        case .links: return .now(try links(call))
        case .objects, .query: return try list(call)
        case .aggregate: return try aggregate(call)
        case .export: return try export(call)
        case .snapshots: return .now(try snapshots(call))
        case .snapshot: return .now(try snapshot(call))
        case .transaction: return try transaction(call)
        case .write: return .now(try asyncWrite(call))
        case .changes: return try changes(call)
        case .subscriptions: return try registerSubscriptions(call)
        case .subscription: return .now(try subscription(call))
        default: throw Problem(.notFound, "there is nothing at this path")
        }
    }
}

extension RouteTemplate {
    /// Whether a read shows what is in a realm.
    fileprivate var readsContents: Bool {
        switch self {
        case .schema, .schemaClass, .realmOpenAPI, .object, .objects, .property, .links, .query, .aggregate, .export:
            return true
        default: return false
        }
    }

    /// Whether an answer depends on nothing but the request and the version it was made from.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .object, .objects, .property, .links, .aggregate: return true
        default: return false
        }
    }
}
