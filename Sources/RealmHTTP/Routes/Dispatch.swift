// SPDX-License-Identifier: Apache-2.0

extension Application {
    /// Finds the endpoint of a call.
    func dispatch(_ call: Call) throws(Problem) -> Reply {
        switch call.match.template {
        case .healthz: return .now(try health(call))
        case .readyz: return .now(try readiness(call))
        case .metrics: return .now(try metricsText(call))
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
