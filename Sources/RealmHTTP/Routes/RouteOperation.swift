// SPDX-License-Identifier: Apache-2.0

/// What one or several methods do at a path.
package struct RouteOperation: Sendable {
    /// The function of an endpoint that answers.
    enum Handler: Sendable {
        /// Changes no realm.
        case read(@Sendable (Endpoints) -> @Sendable (Call) throws(Problem) -> Reply)
        /// Changes a realm, or which realms there are.
        case write(@Sendable (Endpoints) -> @Sendable (WriteCall) throws(Problem) -> Reply)
    }

    /// The methods that the handler answers.
    package let methods: MethodSet
    /// What these methods take of a client.
    package let access: AccessClass
    /// The function that answers.
    let handler: Handler
    /// The name of the method in the API description, and what it says; nil for what is not described.
    let description: (method: String, operation: OperationDescription)?

    /// Whether the methods change a realm, or which realms there are.
    package var isWrite: Bool {
        if case .write = handler { return true }
        return false
    }

    /// A read by `methods`, the first of which is described.
    static func read(
        _ methods: MethodSet, for access: AccessClass, _ description: OperationDescription? = nil,
        _ handler: @escaping @Sendable (Endpoints) -> @Sendable (Call) throws(Problem) -> Reply
    ) -> RouteOperation {
        RouteOperation(methods, access, .read(handler), description: description)
    }

    /// A write by `methods`, the first of which is described.
    static func write(
        _ methods: MethodSet, for access: AccessClass, _ description: OperationDescription? = nil,
        _ handler: @escaping @Sendable (Endpoints) -> @Sendable (WriteCall) throws(Problem) -> Reply
    ) -> RouteOperation {
        RouteOperation(methods, access, .write(handler), description: description)
    }

    private init(_ methods: MethodSet, _ access: AccessClass, _ handler: Handler, description: OperationDescription?) {
        self.methods = methods
        self.access = access
        self.handler = handler
        let name = HTTPMethod.allCases.first { methods.contains($0) }?.rawValue.lowercased() ?? ""
        self.description = description.map { (name, $0) }
    }
}
