// SPDX-License-Identifier: Apache-2.0

/// What one method does at a path, or several methods with the same meaning such as `GET` and
/// `QUERY`.
package struct RouteOperation: Sendable {
    /// The function that answers, before it is bound to the endpoints of a server.
    ///
    /// Routes exist once per process and endpoints once per server, so a route names its function
    /// by a closure over `Endpoints`.
    enum Handler: Sendable {
        /// Selects a function that changes no realm.
        case read(@Sendable (Endpoints) -> @Sendable (Call) throws(Problem) -> Reply)
        /// Selects a function that changes a realm, or the list of realms.
        case write(@Sendable (Endpoints) -> @Sendable (WriteCall) throws(Problem) -> Reply)
    }

    /// The methods that the handler answers.
    package let methods: MethodSet
    /// The access class that a client needs for these methods.
    package let access: AccessClass
    /// Selects the function that answers among the endpoints of a server.
    let handler: Handler
    /// The media types that the body of a request may have; the empty set for none.
    package let bodyTypes: BodyTypes
    /// The codes of all problems that a request can be answered with.
    package let problems: Set<ProblemCode>
    /// The name of the method in the API description with the operation there; nil for what is not
    /// described.
    let description: (method: String, operation: OperationDescription)?

    /// Whether requests can be made inside an interactive transaction, so that they see its uncommitted state or add to
    /// it. The description lists the header field then; all others refuse it.
    package let joinsTransactions: Bool

    /// Whether the methods change a realm, or the list of realms.
    package var isWrite: Bool {
        if case .write = handler { return true }
        return false
    }

    /// Creates an operation that reads.
    ///
    /// - Parameters:
    ///   - methods: The methods that the function answers; the first of them is described.
    ///   - access: The access class that a client needs.
    ///   - description: The operation in the API description; nil for paths that are not
    ///     described.
    ///   - types: The media types of the body of an operation without description; one with a
    ///     description has them there.
    ///   - handler: Selects the function among the endpoints of a server.
    static func read(
        _ methods: MethodSet, for access: AccessClass, _ description: OperationDescription? = nil,
        taking types: BodyTypes = [], _ handler: @escaping @Sendable (Endpoints) -> @Sendable (Call) throws(Problem) -> Reply
    ) -> RouteOperation {
        RouteOperation(methods: methods, access: access, handler: .read(handler), description: description, types: types)
    }

    /// Creates an operation that writes.
    ///
    /// - Parameters:
    ///   - methods: The methods that the function answers; the first of them is described.
    ///   - access: The access class that a client needs.
    ///   - description: The operation in the API description; nil for paths that are not
    ///     described.
    ///   - types: The media types of the body of an operation without description; one with a
    ///     description has them there.
    ///   - handler: Selects the function among the endpoints of a server.
    static func write(
        _ methods: MethodSet, for access: AccessClass, _ description: OperationDescription? = nil,
        taking types: BodyTypes = [], _ handler: @escaping @Sendable (Endpoints) -> @Sendable (WriteCall) throws(Problem) -> Reply
    ) -> RouteOperation {
        RouteOperation(methods: methods, access: access, handler: .write(handler), description: description, types: types)
    }

    /// Creates an operation and finds the name under which it is described: that of its first
    /// method, in lower case.
    private init(
        methods: MethodSet, access: AccessClass, handler: Handler, description: OperationDescription?, types: BodyTypes
    ) {
        self.methods = methods
        self.access = access
        self.handler = handler
        bodyTypes = description?.bodyTypes ?? types
        problems = description?.problems ?? Set.ofAnyRequest.union(Set.ofBodies).union([.notFound, .invalidConfiguration])
        joinsTransactions = description?.parameters.contains("RealmTransaction") ?? false
        let name = HTTPMethod.allCases.first { methods.contains($0) }?.rawValue.lowercased() ?? ""
        self.description = description.map { (name, $0) }
    }
}
