// SPDX-License-Identifier: Apache-2.0

/// A path that matched a template, with its variable parts still encoded.
package struct RouteMatch: Sendable {
    package let template: RouteTemplate
    package let target: RequestTarget

    /// The segment after `/v1/realms/`; nil when it is missing or malformed.
    package var realmName: String? { decoded(2) }

    /// The decoded segment, or nil when it does not exist or is malformed.
    package func decoded(_ index: Int) -> String? {
        guard index < target.segments.count else { return nil }
        return PercentDecoding.decode(target.segment(index))
    }

    /// The decoded segment called `name`; a malformed one is `invalid_parameter`.
    package func required(_ index: Int, _ name: String) throws(Problem) -> String {
        guard let text = decoded(index) else {
            throw .invalidParameter(name, "the path holds text that is not percent-encoded UTF-8")
        }
        return text
    }
}

/// Tells templates by their fixed words. Fixed words and names that users choose never share a position.
package enum Router {
    package static func match(_ target: RequestTarget) -> RouteMatch {
        RouteMatch(template: template(target), target: target)
    }

    private static func template(_ target: RequestTarget) -> RouteTemplate {
        if target.isAsterisk { return .asterisk }
        let count = target.segments.count
        guard count > 0, !target.segments.contains(where: { $0.isEmpty }) else { return .unmatched }
        if target.segment(0, is: "v1") { return count > 1 ? versioned(target, count) : .unmatched }
        switch count {
        case 1: return operations(target)
        case 2 where target.segment(0, is: "admin"):
            return target.segment(1, is: "leases") ? .adminLeases : target.segment(1, is: "config") ? .adminConfig : .unmatched
        case 3 where target.segment(0, is: "admin") && target.segment(1, is: "leases"): return .adminLease
        default: return .unmatched
        }
    }

    private static func operations(_ target: RequestTarget) -> RouteTemplate {
        if target.segment(0, is: "healthz") { return .healthz }
        if target.segment(0, is: "readyz") { return .readyz }
        if target.segment(0, is: "metrics") { return .metrics }
        return .unmatched
    }

    private static func versioned(_ target: RequestTarget, _ count: Int) -> RouteTemplate {
        guard target.segment(1, is: "realms") else {
            return count == 2 && target.segment(1, is: "openapi.json") ? .openAPI : .unmatched
        }
        switch count {
        case 2: return .realms
        case 3: return .realm
        case 4: return realmResource(target)
        default: return target.segment(3, is: "objects") ? objects(target, count) : namedResource(target, count)
        }
    }

    private static func realmResource(_ target: RequestTarget) -> RouteTemplate {
        Router.realmWords.first { target.segment(3, is: $0.0) }?.1 ?? .unmatched
    }

    private static let realmWords: [(StaticString, RouteTemplate)] = [
        ("objects", .objectsAll), ("schema", .schema), ("changes", .changes), ("batch", .batch), ("export", .export),
        ("import", .import), ("backup", .backup), ("transactions", .transactions), ("snapshots", .snapshots),
        ("subscriptions", .subscriptions), ("migrations", .migrations), ("openapi.json", .realmOpenAPI),
    ]

    private static func objects(_ target: RequestTarget, _ count: Int) -> RouteTemplate {
        switch count {
        case 5: return .objects
        case 6: return .object
        case 7: return .property
        case 9: return target.segment(6, is: "@links") ? .links : .unmatched
        default: return .unmatched
        }
    }

    private static func namedResource(_ target: RequestTarget, _ count: Int) -> RouteTemplate {
        if count == 6 {
            return target.segment(3, is: "transactions") && target.segment(5, is: "commit") ? .transactionCommit : .unmatched
        }
        guard count == 5 else { return .unmatched }
        return Router.namedWords.first { target.segment(3, is: $0.0) }?.1 ?? .unmatched
    }

    private static let namedWords: [(StaticString, RouteTemplate)] = [
        ("query", .query), ("aggregate", .aggregate), ("schema", .schemaClass), ("transactions", .transaction),
        ("snapshots", .snapshot), ("subscriptions", .subscription), ("writes", .write),
    ]
}
