// SPDX-License-Identifier: Apache-2.0

extension RouteTable {
    /// The routes of the pages for people, and of the index for programs at `/`. They are not in the API description.
    static let pageRoutes: [Route] = [
        Route("/", .showsPages, operations: [.read(.get, for: .health) { $0.pages.index }]),
        page("/console/{path}") { $0.pages.file },
        page("/docs") { $0.pages.folder },
        page("/docs/") { $0.pages.document },
        page("/docs/{id}") { $0.pages.document },
        page("/docs/problems") { $0.pages.folder },
        page("/docs/problems/") { $0.pages.document },
        page("/docs/problems/{id}") { $0.pages.document },
    ]

    /// Returns the route of a page or a file of pages. One page needs dozens of files, so they do not count towards the rate of a
    /// client.
    private static func page(
        _ pattern: String, _ handler: @escaping @Sendable (Endpoints) -> @Sendable (Call) throws(Problem) -> Reply
    ) -> Route {
        Route(pattern, [.showsPages, .isUnmetered], operations: [.read(.get, for: .health, nil, taking: [], handler)])
    }
}
