// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension Application {
    /// Answers a call: from what is known, or by its endpoint.
    func dispatch(_ call: Call) throws(Problem) -> Reply {
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

    /// Finds the endpoint of a call.
    private func reply(of call: Call) throws(Problem) -> Reply {
        switch call.match.template {
        case .healthz: return .now(try health(call))
        case .readyz: return .now(try readiness(call))
        case .metrics: return .now(try metricsText(call))
        case .adminLeases: return .now(try leases(call))
        case .adminLease: return .now(try endLease(call))
        case .adminConfig: return .now(try adminConfiguration(call))
        case .realms: return .now(try realms(call))
        case .realm: return .now(try realm(call))
        case .schema, .schemaClass: return .now(try schema(call))
        case .openAPI: return .now(try openAPI(call))
        case .realmOpenAPI: return .now(try realmOpenAPI(call))
        case .object: return .now(try object(call))
        case .property: return .now(try property(call))
        case .links: return .now(try links(call))
        case .objects, .query: return try list(call)
        case .aggregate: return try aggregate(call)
        default: throw Problem(.notFound, "there is nothing at this path")
        }
    }
}

extension RouteTemplate {
    /// Whether an answer depends on nothing but the request and the version it was made from.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .object, .objects, .property, .links, .aggregate: return true
        default: return false
        }
    }
}
