// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The functions that answer requests, by route and method, bound to a server once when it is made.
///
/// Looking one up takes an index and no comparison. The table never changes, so any thread may use it.
struct HandlerTable: Sendable {
    /// The function that answers one method of one route.
    struct Handler: Sendable {
        let function: RouteOperation.Function
        /// Whether it changes a realm, or the list of realms.
        let isWrite: Bool
    }

    /// The number of methods, and so of places that each route has in the table.
    private static let methodCount = HTTPMethod.allCases.count
    /// The handlers of all routes one after the other, within a route by the position of the method in `MethodSet`; nil for a
    /// method that the path does not have.
    private let handlers: [Handler?]

    /// Binds the functions that the routes name to a server.
    ///
    /// - Parameters:
    ///   - routes: All routes, in the order of `RouteTable`.
    ///   - server: The parts that requests share.
    init(_ routes: [Route], _ server: ServerState) {
        var handlers = [Handler?](repeating: nil, count: routes.count * HandlerTable.methodCount)
        for (index, route) in routes.enumerated() {
            for operation in route.operations {
                let handler = Handler(function: operation.handler(server), isWrite: operation.isWrite)
                for method in HTTPMethod.allCases where operation.methods.contains(method) {
                    handlers[index * HandlerTable.methodCount + method.position] = handler
                }
            }
        }
        self.handlers = handlers
    }

    /// Returns the function that answers a request.
    ///
    /// - Parameter call: A request whose route was looked up.
    /// - Returns: Nil for a method that is unknown, or that the path does not have.
    subscript(call: Call) -> Handler? {
        guard let method = call.request.method else { return nil }
        return handlers[call.match.index * HandlerTable.methodCount + method.position]
    }
}
