// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes of the pages for people, of the index for programs at `/`, and of the client for JavaScript. They are not in the API description.
    static let pageRoutes: [Route] = [
        Route("/", .showsPages, operations: [.read(.get, for: .health) { PageEndpoints(server: $0).index }]),
        page("/console/{path}") { PageEndpoints(server: $0).file },
        client("/client.js"), client("/client.d.ts"),
        page("/docs") { PageEndpoints(server: $0).folder },
        page("/docs/") { PageEndpoints(server: $0).document },
        page("/docs/{id}") { PageEndpoints(server: $0).document },
        page("/docs/problems") { PageEndpoints(server: $0).folder },
        page("/docs/problems/") { PageEndpoints(server: $0).document },
        page("/docs/problems/{id}") { PageEndpoints(server: $0).document },
    ]

    /// Returns the route of a page or a file of pages. One page needs dozens of files, so they do not count towards the rate of a
    /// client.
    private static func page(
        _ pattern: String, _ handler: @escaping @Sendable (ServerState) -> @Sendable (Call) throws(Problem) -> Reply
    ) -> Route {
        Route(pattern, [.showsPages, .isUnmetered], operations: [.read(.get, for: .health, nil, taking: [], handler)])
    }

    /// Returns the route of a file of the client for JavaScript. It is no page: it is there without the console as well, and pages of
    /// other origins may take it where they may use the API.
    private static func client(_ pattern: String) -> Route {
        Route(
            pattern, .isUnmetered, operations: [.read(.get, for: .health, nil, taking: []) { PageEndpoints(server: $0).client }])
    }
}
