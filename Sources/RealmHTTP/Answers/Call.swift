// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A request on its way to an endpoint, with what was found out about it before: its route, its
/// realm and the methods of its path.
package struct Call: Sendable {
    /// The request, whose route and realm are known.
    package let request: Request
    /// What all reads of the server share: its limits and its snapshots.
    package let services: ReadServices
    /// The methods that the path takes and that change nothing.
    package let readMethods: MethodSet
    /// All methods that the path takes, for the header field `Allow`.
    package let methods: MethodSet
    /// The media types that the operation accepts as its body.
    package let bodyTypes: BodyTypes
    /// The version to read instead of the newest one. It is the uncommitted state inside an
    /// interactive transaction.
    package var version: Version?

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - request: The request, whose route is known.
    ///   - services: What all reads of the server share.
    ///   - readMethods: The methods of the path that change nothing.
    ///   - methods: All methods of the path.
    package init(_ request: Request, _ services: ReadServices, readMethods: MethodSet, methods: MethodSet, bodyTypes: BodyTypes) {
        self.request = request
        self.services = services
        self.readMethods = readMethods
        self.methods = methods
        self.bodyTypes = bodyTypes
    }

    /// The segments of the request's path by their names: `call.match[.key]` is the decoded key.
    package var match: PathMatch { request.match }

    /// The limits that hold for the sender, such as the largest page.
    package var limits: Limits { services.limits.holding(for: request.roleLimits) }

    /// Returns the open realm that the path names.
    ///
    /// - Throws: `realm_not_found`, `realm_unavailable` for a realm that is being opened, or the problem of opening it.
    package func database() throws(Problem) -> Database {
        switch request.realm {
        case nil: throw .noRealm
        case .ready(let database): return database
        case .opening, .closed: throw Problem(.realmUnavailable, "the realm is being opened")
        case .failed(let error):
            throw Problem(failed: error, request.refusalOfRealm, tellsAll: AccessPolicy.granted(to: request) == .administer)
        }
    }

    /// Whether the client has the representation already, because `If-None-Match` names its entity
    /// tag. The answer is then 304.
    ///
    /// The tags of compressed representations count as well.
    package func isCurrent(_ etag: String) -> Bool {
        guard let condition = request.headers[.ifNoneMatch] else { return false }
        if condition == etag { return true }
        guard let list = EntityTagList(condition) else { return false }
        return list.names(etag) || ContentCoding.allCases.contains { list.names(EntityTag.packed(etag, $0)) }
    }
}
