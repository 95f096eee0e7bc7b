// SPDX-License-Identifier: Apache-2.0

/// Every path of the interface, as logs and metrics name it.
package enum RouteTemplate: Int, Sendable, CaseIterable {
    case unmatched, asterisk
    case realms, realm, schema, schemaClass, migrations
    case objectsAll, objects, object, property, links
    case query, aggregate, batch
    case transactions, transaction, transactionCommit
    case snapshots, snapshot, subscriptions, subscription, changes, write
    case export, `import`, backup
    case openAPI, realmOpenAPI
    case healthz, readyz, metrics
    case adminLeases, adminLease, adminConfig

    package var template: StaticString {
        switch self {
        case .unmatched: return "-"
        case .asterisk: return "*"
        case .realms: return "/v1/realms"
        case .realm: return "/v1/realms/{realm}"
        case .schema: return "/v1/realms/{realm}/schema"
        case .schemaClass: return "/v1/realms/{realm}/schema/{class}"
        case .migrations: return "/v1/realms/{realm}/migrations"
        case .objectsAll: return "/v1/realms/{realm}/objects"
        case .objects: return "/v1/realms/{realm}/objects/{class}"
        case .object: return "/v1/realms/{realm}/objects/{class}/{key}"
        case .property: return "/v1/realms/{realm}/objects/{class}/{key}/{property}"
        case .links: return "/v1/realms/{realm}/objects/{class}/{key}/@links/{Class}/{property}"
        case .query: return "/v1/realms/{realm}/query/{class}"
        case .aggregate: return "/v1/realms/{realm}/aggregate/{class}"
        case .batch: return "/v1/realms/{realm}/batch"
        case .transactions: return "/v1/realms/{realm}/transactions"
        case .transaction: return "/v1/realms/{realm}/transactions/{id}"
        case .transactionCommit: return "/v1/realms/{realm}/transactions/{id}/commit"
        case .snapshots: return "/v1/realms/{realm}/snapshots"
        case .snapshot: return "/v1/realms/{realm}/snapshots/{id}"
        case .subscriptions: return "/v1/realms/{realm}/subscriptions"
        case .subscription: return "/v1/realms/{realm}/subscriptions/{id}"
        case .changes: return "/v1/realms/{realm}/changes"
        case .write: return "/v1/realms/{realm}/writes/{id}"
        case .export: return "/v1/realms/{realm}/export"
        case .import: return "/v1/realms/{realm}/import"
        case .backup: return "/v1/realms/{realm}/backup"
        case .openAPI: return "/v1/openapi.json"
        case .realmOpenAPI: return "/v1/realms/{realm}/openapi.json"
        case .healthz: return "/healthz"
        case .readyz: return "/readyz"
        case .metrics: return "/metrics"
        case .adminLeases: return "/admin/leases"
        case .adminLease: return "/admin/leases/{id}"
        case .adminConfig: return "/admin/config"
        }
    }

    /// Methods that change no realm, as far as this server has them.
    package var readMethods: MethodSet {
        switch self {
        case .adminLeases: return .get
        case .adminLease: return .delete
        case .adminConfig: return [.get, .patch]
        case .realms, .realm, .schema, .schemaClass, .object, .property, .links, .openAPI, .realmOpenAPI, .healthz, .readyz,
            .metrics:
            return .get
        case .objects: return [.get, .query]
        case .export: return .get
        case .query: return .post
        case .aggregate: return [.get, .post]
        case .transaction, .write, .subscription: return [.get, .delete]
        case .subscriptions: return .post
        // A stream has no head that would be worth asking for.
        case .changes: return MethodSet(HTTPMethod.get)
        case .snapshots: return [.get, .post]
        case .snapshot: return [.get, .patch, .delete]
        default: return []
        }
    }

    /// Methods that change a realm.
    package var writeMethods: MethodSet {
        switch self {
        case .realms: return .post
        case .realm: return .delete
        case .migrations, .batch, .import: return .post
        case .objectsAll: return .delete
        case .objects: return [.post, .patch, .delete]
        case .object: return [.put, .patch, .delete]
        case .property: return .put
        case .transactions, .transactionCommit: return .post
        default: return []
        }
    }

    /// What `Accept-Patch` says of a path.
    var patchTypes: StaticString {
        switch self {
        case .object: return "application/merge-patch+json, application/json-patch+json, application/json"
        case .adminConfig: return "application/json, application/merge-patch+json"
        default: return "application/merge-patch+json, application/json"
        }
    }

    /// Paths that only administrators see.
    package var isAdministrative: Bool {
        switch self {
        case .metrics, .adminLeases, .adminLease, .adminConfig: return true
        default: return false
        }
    }

    /// Whether anything can be done there with this server at all; other paths are 404.
    package var isServed: Bool { !readMethods.isEmpty || !writeMethods.isEmpty || self == .asterisk }
}
