// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// All paths of the interface, in the order in which the API description lists them.
package enum RouteTable {
    /// All routes. The first one represents every path that is not in the table.
    package static let routes: [Route] =
        [unmatched, server] + pageRoutes + realmRoutes + objectRoutes + transferRoutes + recoveryRoutes + collectiveRoutes
        + leaseRoutes
        + changeRoutes + operationalRoutes + accessRoutes + administrativeRoutes

    /// The route of requests whose path is unknown, or was not looked up yet.
    private static let unmatched = Route(PathPattern.none.text)
    /// The route of `OPTIONS *`.
    private static let server = Route("*", .isServer)

    /// The search tree over all patterns, built when it is first used.
    private static let router = Router(routes)

    /// Finds the route of a request target and the variables of its path.
    ///
    /// - Parameter target: The target, split into segments before percent-decoding.
    /// - Returns: The route with the segments of its variables; the first route when the path is
    ///   unknown.
    package static func match(_ target: RequestTarget) -> PathMatch {
        let index = router.index(of: target)
        return PathMatch(routes[index].pattern, index: index, target)
    }

    /// Returns the route of a request: the one that was found, or the one for unknown paths before that.
    ///
    /// - Parameter call: Any request.
    package static func route(of call: Call) -> Route { routes[call.match.index] }

    /// Returns the route with a pattern.
    ///
    /// - Parameter pattern: The pattern exactly as it is written in the table.
    /// - Returns: The route; nil when there is none.
    /// - Complexity: O(n) in the number of routes.
    package static subscript(pattern: String) -> Route? { routes.first { $0.pattern.text == pattern } }

    /// The paths of the API description, each with an object of its operations by method. Paths
    /// without a described operation are left out.
    static var documentedPaths: [(String, DocumentValue)] {
        routes.compactMap { route in
            let operations = route.operations.compactMap(\.description)
            guard !operations.isEmpty else { return nil }
            let members = operations.map { method, operation in
                DocumentValue.Member(method, operation.document(variables: route.pattern.variables))
            }
            return (route.pattern.documented, .object(members + route.queryMember))
        }
    }
}

extension Route {
    /// The method `QUERY` as a member of the path in a description; empty where the path does not have it.
    var queryMember: [DocumentValue.Member] {
        guard let operation = operation(of: .query)?.description?.operation else { return [] }
        return [
            .init(
                "x-query",
                operation.queryDocument(
                    body: operation.parameters.contains("Operations") ? "AggregateBody" : "QueryBody"))
        ]
    }
}

extension PathPattern {
    /// The pattern as descriptions have it. The variable of a class has another name there, since `class` is a reserved word
    /// in many languages.
    package var documented: String {
        text.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0 == "{class}" ? "{className}" : $0 }.joined(separator: "/")
    }
}
