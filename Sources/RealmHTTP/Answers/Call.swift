// SPDX-License-Identifier: Apache-2.0

package import RealmEngine

/// A request on its way to an endpoint, with what was found out about it.
package struct Call: Sendable {
    /// The request, with its route and its realm.
    package let request: Request
    /// What all reads share.
    package let services: ReadServices
    /// What can be done at the path without changing anything.
    package let readMethods: MethodSet
    /// All that can be done at the path.
    package let methods: MethodSet
    /// The state to read when it is not the newest version.
    package var version: Version?

    /// A call at a path whose methods are known.
    package init(_ request: Request, _ services: ReadServices, readMethods: MethodSet, methods: MethodSet) {
        self.request = request
        self.services = services
        self.readMethods = readMethods
        self.methods = methods
    }

    /// The path of the request; `call.match[.key]` is a segment by its name.
    package var match: PathMatch { request.match }

    /// The limits of the server.
    package var limits: Limits { services.limits }

    /// The open realm that the path names; the others answer `realm_unavailable`.
    package func database() throws(Problem) -> Database {
        switch request.realm {
        case nil: throw Problem(.realmNotFound, "there is no realm of this name")
        case .ready(let database): return database
        case .opening: throw Problem(.realmUnavailable, "the realm is being opened")
        case .failed(let error): throw Problem(unavailable: error)
        }
    }

    /// Whether `If-None-Match` names `etag`, so that 304 is the answer.
    package func isCurrent(_ etag: String) -> Bool {
        guard let condition = request.headers[.ifNoneMatch] else { return false }
        if condition == etag { return true }
        guard let list = EntityTagList(condition) else { return false }
        return list.names(etag) || list.names(EntityTag.packed(etag))
    }

    /// Refuses a call that belongs to an interactive transaction, where it has no meaning.
    func refuseTransaction(_ detail: String) throws(Problem) {
        guard request.headers[.realmTransaction] == nil else {
            throw Problem(.conflictingParameters, detail).with("header", "Realm-Transaction")
        }
    }
}
