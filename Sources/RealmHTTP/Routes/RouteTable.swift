// SPDX-License-Identifier: Apache-2.0

/// All paths of the interface, in the order in which the API description has them.
package enum RouteTable {
    /// The first one stands for paths that are not in the table.
    package static let routes: [Route] =
        [unmatched, server] + realmRoutes + objectRoutes + transferRoutes + collectiveRoutes + leaseRoutes + changeRoutes
        + operationalRoutes + administrativeRoutes

    private static let unmatched = Route(PathPattern.none.text)
    private static let server = Route("*", .isServer)

    private static let router = Router(routes)

    /// Finds the route of a target, and the variables of its path.
    package static func match(_ target: RequestTarget) -> PathMatch {
        let index = router.index(of: target)
        return PathMatch(routes[index].pattern, index: index, target)
    }

    /// The route of a request that was looked up; the one for unknown paths before that.
    package static func route(of request: Request) -> Route { routes[request.match.index] }

    /// The route of a pattern, as it is written in the table.
    package static subscript(pattern: String) -> Route? { routes.first { $0.pattern.text == pattern } }

    /// The paths of the API description with their operations.
    static var documentedPaths: [(String, DocumentValue)] {
        routes.compactMap { route in
            let operations = route.operations.compactMap(\.description)
            guard !operations.isEmpty else { return nil }
            let members = operations.map { method, operation in
                DocumentValue.Member(method, operation.document(variables: route.pattern.variables))
            }
            return (route.pattern.text, .object(members))
        }
    }
}
