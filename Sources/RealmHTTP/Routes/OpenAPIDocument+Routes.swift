// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
internal import RealmCalls
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

extension OpenAPIDocument {
    /// Returns the document that `/v1/openapi.json` serves. With the default limits it is that of `openapi/openapi.yaml`.
    ///
    /// - Parameters:
    ///   - version: The version of this program, shown as the version of the interface.
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server, which the document states.
    package static func api(
        version: String, ints: Integers = .number, limits: Limits = Limits()
    ) -> DocumentValue {
        document(version: version, ints: ints, limits: limits, paths: RouteTable.documentedPaths)
    }
}

extension OpenAPIRealm {
    /// Prepares the description of a realm, with the paths of it that concern several classes.
    ///
    /// - Parameters:
    ///   - snapshot: The version whose classes are described.
    ///   - ints: The form of integers in the responses that are described.
    ///   - profile: The level of detail.
    ///   - limits: The limits of the server, which parameters and bodies state.
    ///   - defaults: The values that creates take for properties they leave out.
    package init(
        realm: String, snapshot: Snapshot, ints: OpenAPIDocument.Integers = .number,
        profile: OpenAPIDocument.Profile = .full, limits: Limits = Limits(), defaults: ClassDefaults = .none
    ) {
        self.init(
            realm: realm, snapshot: snapshot, ints: ints, profile: profile, limits: limits, defaults: defaults,
            shared: RouteTable.pathsOfRealms)
    }
}

extension RouteTable {
    /// The prefix of the patterns of routes in a realm.
    private static let prefix = "/v1/realms/{realm}/"
    /// The prefixes of the rest of the pattern, for the paths in the description of a realm in addition to those of classes.
    private static let shared = [
        "schema", "objects/{class}/{key}/", "batch", "export", "diff", "import", "transactions", "snapshots", "writes",
        "subscriptions", "changes",
    ]

    /// The paths that the description of a realm has besides those of classes: all but those for administrators, and that of
    /// batches in a class, which it has for each class.
    fileprivate static let pathsOfRealms: [OpenAPIPath] = routes.compactMap { route in
        let path = route.pattern.text
        guard path.hasPrefix(prefix), shared.contains(where: { path.dropFirst(prefix.count).hasPrefix($0) }),
            path != prefix + "batch/{class}"
        else { return nil }
        let operations = route.operations.filter { $0.access != .administer }.compactMap(\.description)
        return OpenAPIPath(
            pattern: route.pattern.documented, variables: route.pattern.variables,
            operations: operations.map { ($0.method, $0.operation) })
    }
}
