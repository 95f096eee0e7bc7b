// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
package import RealmReplica
internal import RealmStorage

/// Which cluster a server is a node of.
package struct ClusterOptions: Sendable, Equatable {
    /// The address for the client library of PostgreSQL: a URL or `name=value` pairs, perhaps with a password; nil for a single
    /// server.
    package var address: String?
    package var node: String?
    /// The URL at which clients reach this node, without a slash at the end.
    package var url: String?
    /// The response to a request for which another node is responsible.
    package var handOver = HandOver.refuse
    /// Which realms of other nodes are served here for reading.
    package var replicas = Replicas.onDemand
    /// Whether a log is refused that only one server of PostgreSQL keeps.
    package var requiresStandby = false
    package var baseStore = BaseStoreTarget()
    /// The schedule and the retention of bases. It is not a setting; tests make them sooner.
    package var bases = BasePolicy()

    /// The response to a request for which another node is responsible, in addition to the field `Realm-Owner` with its URL.
    package enum HandOver: String, Sendable, CaseIterable {
        /// 421 `not_owner`.
        case refuse
        /// 307 to the URL of the node, for clients that reach it.
        case redirect
        /// 421 with `X-Accel-Redirect: @NODE`, by which nginx repeats the request there.
        case accel
    }

    /// Which realms of other nodes a node serves for reading.
    package enum Replicas: String, Sendable, CaseIterable {
        /// Realms that are read here, from then on until they are unused.
        case onDemand = "on-demand"
        /// None: reads are handed over like writes.
        case none
    }

    /// Makes options of a single server.
    package init() {}

    /// The address for people: host, port, user and database, and nothing that could be a secret.
    package var shownAddress: String? { address.map { ClusterOptions.shown($0) } }

    /// Returns an address without secrets.
    static func shown(_ address: String) -> String {
        guard let scheme = address.firstRange(of: "://") else {
            let names = ["host=", "hostaddr=", "port=", "user=", "dbname="]
            return address.split(separator: " ").filter { part in names.contains { part.hasPrefix($0) } }
                .joined(separator: " ")
        }
        let rest = address[scheme.upperBound...].prefix { $0 != "?" }
        let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        return String(address[..<scheme.upperBound]) + String(place)
    }
}
