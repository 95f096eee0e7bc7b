// SPDX-License-Identifier: Apache-2.0

/// What a request does, and what a client may do. Each includes those before it.
package enum AccessClass: Int, Sendable, Comparable, CaseIterable {
    /// Asking whether the server works.
    case health
    /// Everything that changes no realm: queries, exports, streams, long-polls, and the snapshots and registrations that
    /// reading takes, which end by themselves.
    case read
    /// Changing objects.
    case write
    /// Deciding which realms there are, what their classes are, emptying them, and looking after the server.
    case administer

    package static func < (one: AccessClass, other: AccessClass) -> Bool { one.rawValue < other.rawValue }
}

extension RouteTemplate {
    /// What each method of the path takes. A test sees to it that every method that is served is named here; what is
    /// not named is for administrators.
    package var accessRules: [(methods: MethodSet, access: AccessClass)] {
        switch self {
        case .healthz, .readyz: return [(.get, .health)]
        case .metrics, .adminLeases: return [(.get, .administer)]
        case .adminLease: return [(.delete, .administer)]
        case .adminConfig: return [([.get, .patch], .administer)]
        case .realms: return [(.get, .read), (.post, .administer)]
        case .realm: return [(.get, .read), (.delete, .administer)]
        case .schema, .schemaClass, .openAPI, .realmOpenAPI, .links, .export: return [(.get, .read)]
        case .migrations: return [(.post, .administer)]
        case .objectsAll: return [(.delete, .administer)]
        case .objects: return [([.get, .query], .read), ([.post, .patch, .delete], .write)]
        case .object: return [(.get, .read), ([.put, .patch, .delete], .write)]
        case .property: return [(.get, .read), (.put, .write)]
        case .query: return [(.post, .read)]
        case .aggregate: return [([.get, .post], .read)]
        case .batch, .import: return [(.post, .write)]
        // Only who may write has transactions and writes to ask about.
        case .transactions, .transactionCommit: return [(.post, .write)]
        case .transaction, .write: return [([.get, .delete], .write)]
        case .snapshots: return [([.get, .post], .read)]
        case .snapshot: return [([.get, .patch, .delete], .read)]
        case .subscriptions: return [(.post, .read)]
        case .subscription: return [([.get, .delete], .read)]
        case .changes: return [(MethodSet(HTTPMethod.get), .read)]
        // There is nothing, which readers may know.
        case .unmatched, .asterisk, .backup: return []
        }
    }

    /// What a request with this method takes; nil is a method that the server does not know.
    package func access(of method: HTTPMethod?) -> AccessClass {
        guard let method else { return isServed && !accessRules.isEmpty ? .administer : .read }
        return RouteTemplate.accessTable[rawValue * MethodSet.count + MethodSet(method).position]
    }

    private static let accessTable: [AccessClass] = allCases.flatMap { template in
        HTTPMethod.allCases.sorted { MethodSet($0).position < MethodSet($1).position }.map { template.namedAccess(of: $0) }
    }

    private func namedAccess(of method: HTTPMethod) -> AccessClass {
        guard !accessRules.isEmpty else { return .read }
        // Asking for the methods takes no more than the least of them.
        if method == .options { return accessRules.map(\.access).min() ?? .read }
        return accessRules.first { $0.methods.contains(method) }?.access ?? .administer
    }
}

extension MethodSet {
    /// How many methods there are.
    fileprivate static let count = HTTPMethod.allCases.count
    /// The place of the only method in the set.
    fileprivate var position: Int { rawValue.trailingZeroBitCount }
}
