// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
internal import RealmCalls
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The operation of one method at a path, or of several methods with the same meaning such as `GET` and `QUERY`.
package struct RouteOperation: Sendable {
    /// The function of an endpoint that answers a call.
    typealias Function = @Sendable (Call) throws(Problem) -> Reply

    /// The methods that the handler answers.
    package let methods: MethodSet
    /// The access class that a client needs for these methods.
    package let access: AccessClass
    /// Selects the function that answers, of an endpoint with the parts of a server.
    let handler: @Sendable (ServerState) -> Function
    /// Whether the methods change a realm, or the list of realms.
    package let isWrite: Bool
    /// The media types that the body of a request may have; the empty set for none.
    package let bodyTypes: BodyTypes
    /// The names of the parameters in the query string; none for an operation that is not described.
    let queryNames: [String]
    /// The codes of all problems that a request can be answered with.
    package let problems: Set<ProblemCode>
    /// The name of the method in the API description with the operation there; nil if it is not described.
    let description: (method: String, operation: OperationDescription)?

    /// Whether requests can be made inside an interactive transaction, so that they see its uncommitted state or add to
    /// it. The description lists the header field then; all others refuse it.
    package let joinsTransactions: Bool

    /// The kind of its lines in the audit log, where it does not follow from the rest.
    private var statedAuditKind: AuditKind?
    /// Whether it runs even while the audit log is required and cannot be written, because it only releases a resource, or may
    /// repair the log.
    package private(set) var mayGoUnrecorded = false

    /// Returns the kind of the audit line of a request; nil for a request without one.
    ///
    /// - Parameter method: The method of the request.
    package func auditKind(of method: HTTPMethod?) -> AuditKind? {
        if let statedAuditKind { return statedAuditKind }
        if isWrite { return access == .administer ? .administration : .write }
        guard access == .administer, let method, ![.get, .head, .query, .options].contains(method) else { return nil }
        return .administration
    }

    /// Returns the operation with lines in the audit log.
    ///
    /// - Parameters:
    ///   - kind: The kind of the lines.
    ///   - mayGoUnrecorded: Whether it runs even when no line can be written.
    func audited(as kind: AuditKind, mayGoUnrecorded: Bool = false) -> RouteOperation {
        var copy = self
        copy.statedAuditKind = kind
        copy.mayGoUnrecorded = mayGoUnrecorded
        return copy
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
    ///   - handler: Selects the function of an endpoint with the parts of a server.
    static func read(
        _ methods: MethodSet, for access: AccessClass, _ description: OperationDescription? = nil,
        taking types: BodyTypes = [], _ handler: @escaping @Sendable (ServerState) -> Function
    ) -> RouteOperation {
        RouteOperation(methods: methods, access: access, isWrite: false, description, types, handler)
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
    ///   - handler: Selects the function of an endpoint with the parts of a server.
    static func write(
        _ methods: MethodSet, for access: AccessClass, _ description: OperationDescription? = nil,
        taking types: BodyTypes = [], _ handler: @escaping @Sendable (ServerState) -> Function
    ) -> RouteOperation {
        RouteOperation(methods: methods, access: access, isWrite: true, description, types, handler)
    }

    /// Creates an operation and finds the name under which it is described: that of its first method, in lower case.
    private init(
        methods: MethodSet, access: AccessClass, isWrite: Bool, _ description: OperationDescription?, _ types: BodyTypes,
        _ handler: @escaping @Sendable (ServerState) -> Function
    ) {
        self.methods = methods
        self.access = access
        self.isWrite = isWrite
        self.handler = handler
        bodyTypes = description?.bodyTypes ?? types
        queryNames = SharedParameter.queryNames(of: description?.parameters ?? [])
        problems = description?.problems ?? Set.ofAnyRequest.union(Set.ofBodies).union([.notFound, .invalidConfiguration])
        joinsTransactions = description?.parameters.contains("RealmTransaction") ?? false
        let name = HTTPMethod.allCases.first { methods.contains($0) }?.rawValue.lowercased() ?? ""
        self.description = description.map { (name, $0) }
    }
}
