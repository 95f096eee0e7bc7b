// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmCalls
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One path of the interface, with everything that the server knows about it.
///
/// Looking up a request, `Allow`, access rights, the label in the log and the metrics, the function
/// that answers, and the API description all come from this value. A new path is one more of them
/// in `RouteTable`. Routes are made once per process and never change.
package final class Route: Sendable {
    /// Properties that distinguish a path from most others, such as long bodies.
    package struct Traits: OptionSet, Sendable {
        /// The traits as a number with one bit for each.
        package let rawValue: Int
        /// Creates a set of the traits whose bits are set.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Reads show the contents of a realm. They can take part in interactive transactions, and
        /// are begun on the daemon's thread.
        package static let readsContents = Traits(rawValue: 1)
        /// A response depends on nothing but the request and the version, so it may be kept for the
        /// next client with the same request.
        package static let isRepeatable = Traits(rawValue: 2)
        /// The path does not exist for clients that may not administer.
        package static let isHidden = Traits(rawValue: 4)
        /// Request bodies may be long and are stored in files while they arrive.
        package static let hasLongBodies = Traits(rawValue: 8)
        /// The rate of a client is not limited here, because programs that monitor the server use the path.
        package static let isUnmetered = Traits(rawValue: 16)
        /// The route is not one path but the server as a whole, as in `OPTIONS *`.
        package static let isServer = Traits(rawValue: 32)
        /// Writes concern the file of a realm as a whole, so they are possible for a realm that is only
        /// read, such as a damaged one.
        package static let concernsFile = Traits(rawValue: 64)
        /// The path is that of transactions, which the header field `Realm-Transaction` may name once more.
        package static let concernsTransactions = Traits(rawValue: 128)
        /// Reads need no credential on the listener for administrators.
        package static let isOpenToAdminListener = Traits(rawValue: 256)
        /// The ticket of a registration in the URL takes the place of a credential.
        package static let takesTickets = Traits(rawValue: 512)
        /// Reads and writes are restricted to the rights of the sender, so that a principal with a part of the rights can use the
        /// path.
        package static let showsVisible = Traits(rawValue: 1024)
        /// Reads observe the visible part, which is a separate right.
        package static let subscribes = Traits(rawValue: 2048)
        /// Reads export all that they show, which is a separate right.
        package static let exports = Traits(rawValue: 4096)
        /// Writes concern this server's way to a realm alone, so each node of a cluster takes them.
        package static let concernsNode = Traits(rawValue: 65536)
        /// Writes change the schema, which is a separate right.
        package static let migrates = Traits(rawValue: 32768)
        /// Writes import many objects, which is a separate right.
        package static let imports = Traits(rawValue: 8192)
        /// A `POST` checks for long before it changes anything; it is aborted once its client has left.
        package static let endsWithClient = Traits(rawValue: 131072)
        /// Reads show texts that are part of the program, the same for all clients: they need no credential, and a link on a page
        /// of another origin may lead there.
        package static let showsPages = Traits(rawValue: 16384)
    }

    /// The form of the path, which is also its label in the log and the metrics.
    package let pattern: PathPattern
    /// The properties that distinguish this path from most others.
    package let traits: Traits
    /// The operations at the path, in the order of the API description. It is empty for a path that is reserved.
    package let operations: [RouteOperation]
    /// The methods that change no realm.
    package let readMethods: MethodSet
    /// The methods at this path that change a realm, or the list of realms.
    package let writeMethods: MethodSet
    /// The access class that each method needs, by its position in `MethodSet`.
    private let accessByMethod: [AccessClass]
    /// The media types of the body that each method accepts, by its position in `MethodSet`.
    private let bodyTypesByMethod: [BodyTypes]
    /// The names of the query parameters of each method, by its position in `MethodSet`.
    private let queryNamesByMethod: [[String]]

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - pattern: The path, with variables in braces, as `PathPattern` reads it.
    ///   - traits: The special treatment of the path.
    ///   - operations: The operations at the path; none for a reserved path.
    init(_ pattern: String, _ traits: Traits = [], operations: [RouteOperation] = []) {
        self.pattern = PathPattern(pattern)
        self.traits = traits
        self.operations = operations
        readMethods = operations.reduce(into: MethodSet()) { if !$1.isWrite { $0.formUnion($1.methods) } }
        writeMethods = operations.reduce(into: MethodSet()) { if $1.isWrite { $0.formUnion($1.methods) } }
        let methods = HTTPMethod.allCases.sorted { $0.position < $1.position }
        accessByMethod = methods.map { Route.access(of: $0, operations) }
        let operations = methods.map { method in operations.first { $0.methods.contains(method) } }
        bodyTypesByMethod = operations.map { $0?.bodyTypes ?? [] }
        queryNamesByMethod = operations.map { $0?.queryNames ?? [] }
    }

    /// Whether anything can be done at the path with this server. Other paths are answered with
    /// 404.
    package var isServed: Bool { !operations.isEmpty || traits.contains(.isServer) }

    /// Whether writes concern the file of a realm as a whole: at the path of the realm itself, and where the traits say so.
    var concernsFile: Bool { pattern.isRealm || traits.contains(.concernsFile) }

    /// Returns the access class that a request needs.
    ///
    /// - Parameter method: The method; nil for one that the server does not know.
    /// - Returns: That of the operation, or of administrators for a method that the path does not
    ///   have. `OPTIONS` needs no more than the least of the operations.
    package func access(of method: HTTPMethod?) -> AccessClass {
        guard let method else { return operations.isEmpty ? .read : .administer }
        return accessByMethod[method.position]
    }

    /// Returns whether a method shows something and has no effect.
    ///
    /// `readMethods` has others too, which change no realm: a key is revoked, a snapshot is pinned.
    ///
    /// - Parameter method: The method; nil for one that the server does not know.
    package func onlyReads(_ method: HTTPMethod?) -> Bool {
        switch method {
        case .get, .head, .query: true
        case .post: traits.contains(.readsContents) && readMethods.contains(.post)
        default: false
        }
    }

    /// Returns whether a request is in vain once its client has left: it only reads, it registers subscriptions, or the traits say so.
    ///
    /// - Parameter method: The method; nil for one that the server does not know.
    func isForItsClient(_ method: HTTPMethod?) -> Bool {
        onlyReads(method) || method == .post && !traits.isDisjoint(with: [.subscribes, .endsWithClient])
    }

    /// Returns the media types that a method accepts as its body.
    ///
    /// - Parameter method: The method; nil for one that the server does not know.
    /// - Returns: The types; the empty set when the method takes no body, or when the path does not
    ///   have it.
    package func bodyTypes(of method: HTTPMethod?) -> BodyTypes { method.map { bodyTypesByMethod[$0.position] } ?? [] }

    /// Returns the names of the query parameters of a method; none when the path does not have it.
    func queryNames(of method: HTTPMethod?) -> [String] { method.map { queryNamesByMethod[$0.position] } ?? [] }

    /// Returns the codes of all problems that a request can be answered with.
    ///
    /// - Parameter method: The method of the request; nil for one that the server does not know.
    /// - Returns: The codes of the operation; for a method that the path does not have, those of any
    ///   request, and of the realm that the path names.
    package func problems(of method: HTTPMethod?) -> Set<ProblemCode> {
        operations.first { method.map($0.methods.contains) ?? false }?.problems
            ?? (pattern.variables.contains(.realm) ? Set.ofAnyRequest.union(Set.ofRealms) : .ofAnyRequest)
    }

    /// Returns the operation of a method; nil when the path does not have it.
    package func operation(of method: HTTPMethod?) -> RouteOperation? {
        guard let method else { return nil }
        return operations.first { $0.methods.contains(method) }
    }

    /// Makes the checks that depend on the route alone: the media type of a body, and whether the request may name a transaction.
    ///
    /// - Throws: `unsupported_media_type` or `conflicting_parameters`.
    func check(_ call: Call) throws(Problem) {
        // Endpoints that read from the target ignore bodies of GET and HEAD.
        if call.request.method != .get, call.request.method != .head { _ = try call.bodyTypes.type(of: call.request) }
        try checkTransaction(of: call)
    }

    /// Throws `conflicting_parameters` for a request that names an interactive transaction which it does not take part
    /// in, and which it would otherwise pass by unnoticed.
    ///
    /// - Parameter call: A request for this route.
    private func checkTransaction(of call: Call) throws(Problem) {
        guard let id = call.request[.realmTransaction], let operation = operation(of: call.request.method),
            !operation.joinsTransactions
        else { return }
        if traits.contains(.concernsTransactions) {
            // The request that begins one has a separate response.
            guard pattern.variables.contains(.id), call.match.decoded(.id) != id else { return }
            throw Problem(.conflictingParameters, "the path and the header field name different transactions")
                .with("header", "Realm-Transaction")
        }
        throw Problem(.conflictingParameters, "this request cannot be made inside a transaction")
            .with("header", "Realm-Transaction")
    }

    /// Returns the access class that a method needs among these operations.
    private static func access(of method: HTTPMethod, _ operations: [RouteOperation]) -> AccessClass {
        // Clients that may read may also learn that nothing is at a path.
        guard !operations.isEmpty else { return .read }
        // OPTIONS needs no more than the method that needs the least.
        if method == .options { return operations.map(\.access).min() ?? .read }
        return operations.first { $0.methods.contains(method) }?.access ?? .administer
    }
}

extension HTTPMethod {
    /// The number of the bit that the method has in a `MethodSet`, from 0.
    package var position: Int { MethodSet(self).rawValue.trailingZeroBitCount }
}
