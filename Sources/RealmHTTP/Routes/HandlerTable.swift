// SPDX-License-Identifier: Apache-2.0

/// The functions of the endpoints by route and method, bound once when the server is made.
struct HandlerTable: Sendable {
    /// What answers one method of one route.
    enum Handler: Sendable {
        /// There is no such method at the path.
        case none
        case read(@Sendable (Call) throws(Problem) -> Reply)
        case write(@Sendable (WriteCall) throws(Problem) -> Reply)
    }

    private static let methodCount = HTTPMethod.allCases.count
    private let handlers: [Handler]

    /// Binds the functions that the routes name to the endpoints of a server.
    init(_ routes: [Route], _ endpoints: Endpoints) {
        var handlers = [Handler](repeating: .none, count: routes.count * HandlerTable.methodCount)
        for (index, route) in routes.enumerated() {
            for operation in route.operations {
                let handler: Handler
                switch operation.handler {
                case .read(let function): handler = .read(function(endpoints))
                case .write(let function): handler = .write(function(endpoints))
                }
                for method in HTTPMethod.allCases where operation.methods.contains(method) {
                    handlers[index * HandlerTable.methodCount + method.position] = handler
                }
            }
        }
        self.handlers = handlers
    }

    /// The function that answers a request.
    subscript(request: Request) -> Handler {
        guard let method = request.method else { return .none }
        return handlers[request.match.index * HandlerTable.methodCount + method.position]
    }
}
