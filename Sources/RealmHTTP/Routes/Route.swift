// SPDX-License-Identifier: Apache-2.0

/// One path of the interface: everything that the server knows about it.
///
/// Looking a request up, `Allow`, who may do what, the label in log and metrics, the function that answers, and the API
/// description all come from this value. A new path is one more of them in `RouteTable`.
package final class Route: Sendable {
    /// What is special about a path.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int
        /// The traits whose bits are set.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Reads show what is in a realm. They take part in interactive transactions, and are begun on the daemon's thread.
        package static let readsContents = Traits(rawValue: 1)
        /// An answer depends on nothing but the request and the version, so it may be kept for the next one who asks.
        package static let isRepeatable = Traits(rawValue: 2)
        /// For those who may not administer the path does not exist.
        package static let isHidden = Traits(rawValue: 4)
        /// Bodies are long, and kept in files while they arrive.
        package static let hasLongBodies = Traits(rawValue: 8)
        /// Asked by those who watch the server: the rate of a client is not limited here.
        package static let isUnmetered = Traits(rawValue: 16)
        /// Not one path but the server as a whole, as `OPTIONS *` has it.
        package static let isServer = Traits(rawValue: 32)
    }

    /// The form of the path, and its label in log and metrics.
    package let pattern: PathPattern
    /// What is special about the path.
    package let traits: Traits
    /// What can be done at the path, in the order of the API description. Empty for a path that is kept free.
    package let operations: [RouteOperation]
    /// The media types of `Accept-Patch`.
    let patchTypes: StaticString
    /// Methods that change no realm, as far as this server has them.
    package let readMethods: MethodSet
    /// Methods that change a realm, or which realms there are.
    package let writeMethods: MethodSet
    /// The access class of each method, by its position in `MethodSet`.
    private let accessByMethod: [AccessClass]

    /// What `Accept-Patch` says of paths that take a merge patch.
    static let mergePatch: StaticString = "application/merge-patch+json, application/json"

    /// A route; `pattern` is read by `PathPattern`.
    init(
        _ pattern: String, _ traits: Traits = [], patchTypes: StaticString = Route.mergePatch,
        operations: [RouteOperation] = []
    ) {
        self.pattern = PathPattern(pattern)
        self.traits = traits
        self.patchTypes = patchTypes
        self.operations = operations
        readMethods = operations.reduce(into: MethodSet()) { if !$1.isWrite { $0.formUnion($1.methods) } }
        writeMethods = operations.reduce(into: MethodSet()) { if $1.isWrite { $0.formUnion($1.methods) } }
        accessByMethod = HTTPMethod.allCases.sorted { $0.position < $1.position }.map { Route.access(of: $0, operations) }
    }

    /// Whether anything can be done there with this server at all; other paths are 404.
    package var isServed: Bool { !operations.isEmpty || traits.contains(.isServer) }

    /// What a request with this method takes; nil is a method that the server does not know.
    package func access(of method: HTTPMethod?) -> AccessClass {
        guard let method else { return operations.isEmpty ? .read : .administer }
        return accessByMethod[method.position]
    }

    private static func access(of method: HTTPMethod, _ operations: [RouteOperation]) -> AccessClass {
        // That there is nothing at a path is no secret to those who read.
        guard !operations.isEmpty else { return .read }
        // Asking for the methods takes no more than the least of them.
        if method == .options { return operations.map(\.access).min() ?? .read }
        return operations.first { $0.methods.contains(method) }?.access ?? .administer
    }
}

extension HTTPMethod {
    /// The number of the bit that the method has in a `MethodSet`.
    package var position: Int { MethodSet(self).rawValue.trailingZeroBitCount }
}
