// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The API keys of the server, for administrators: `/admin/keys`.
///
/// All of them read or replace a file, so workers answer.
struct KeyEndpoints: Sendable {
    let server: ServerState

    /// The parameter that permits a change after which no key administers.
    private static let confirm = "confirm"
    /// The greatest numbers of roles, networks and claims of a key.
    private static let memberLimit = 64

    // MARK: - Endpoints

    /// Answers `GET /admin/keys` with all keys, without their secrets, and `POST` by making one.
    ///
    /// The response to `POST` is the only one that has the key itself. A first key that cannot administer is refused without
    /// `confirm=no-administrator`.
    ///
    /// - Throws: `unknown_parameter` for any other query parameter, `invalid_body` for a body of another shape, and as 422 for a role
    ///   that does not exist.
    func keys(_ call: Call) throws(Problem) -> Reply {
        let parameters = try QueryParameters(call.request.target)
        try parameters.requireKnown(call.queryNames)
        guard call.request.method == .post else { return .now(list()) }
        let text = APIKeyText()
        let key = try KeyEndpoints.key(text, try call.bodyObject())
        let check = CredentialCheck(server.liveOptions.current)
        if let defect = check.defect(ofRoles: key.roles) {
            var problem = KeyEndpoints.invalid("roles", defect)
            problem.status = 422
            throw problem
        }
        let guarding = try KeyEndpoints.isConfirmed(parameters) ? nil : check
        let address = call.request.clientAddress
        return work(call) { file throws(KeyFile.Failure) in
            try file.add(key, guarding, from: address)
            call.audit?.setTarget(key.id)
            var response = KeyEndpoints.document(key, text, status: 201)
            response.addLocation("/admin/keys/" + key.id)
            return response
        }
    }

    /// Answers `DELETE /admin/keys/{id}`: revokes a key, with 204. Its streams end.
    ///
    /// The last key that administers is refused without `confirm=no-administrator`.
    ///
    /// - Throws: `unknown_parameter` for any other query parameter. An unknown id is in the reply.
    func revoke(_ call: Call) throws(Problem) -> Reply {
        let parameters = try QueryParameters(call.request.target)
        try parameters.requireKnown(call.queryNames)
        let check = try KeyEndpoints.isConfirmed(parameters) ? nil : CredentialCheck(server.liveOptions.current)
        let id = try call.match[.id]
        return work(call) { file throws(KeyFile.Failure) in
            try file.revoke(id, check)
            return Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
        }
    }

    /// Answers `POST /admin/keys/{id}/rotate`: gives a key a new secret, and ends the old one at once.
    ///
    /// - Throws: `unknown_parameter` for any query parameter, `invalid_body` for a body. An unknown id is in the reply.
    func rotate(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        guard call.request.body.isEmpty else { throw Problem(.invalidBody, "this request takes no body") }
        let id = try call.match[.id]
        return work(call) { file throws(KeyFile.Failure) in
            let (text, key) = try file.rotate(id)
            return KeyEndpoints.document(key, text, status: 200)
        }
    }

    /// Returns whether a request confirms that no key has to administer.
    private static func isConfirmed(_ parameters: QueryParameters) throws(Problem) -> Bool {
        guard let value = parameters[confirm] else { return false }
        guard value.utf8.elementsEqual(CredentialCheck.confirmation.utf8) else {
            throw .invalidParameter(confirm, "'confirm' must be '\(CredentialCheck.confirmation)'")
        }
        return true
    }

    /// Returns a reply for which a worker changes the file, and then puts the change in force.
    private func work(
        _ call: Call, _ body: @escaping @Sendable (KeyFile) throws(KeyFile.Failure) -> Response
    ) -> Reply {
        .work { [keys = server.authenticator.keys] in
            guard var file = keys.file else {
                let detail = "this server has no data folder to keep keys in"
                return Response(Problem(.invalidConfiguration, detail), for: call)
            }
            // Another request may have ended its credential, or open access.
            file.mayChange = { [principal = call.caller.principal] before in
                keys.refresh()
                return !principal.isOver && (before == nil || !principal.isAnonymousLocal)
            }
            do throws(KeyFile.Failure) {
                let response = try body(file)
                keys.refresh()
                return response
            } catch {
                return Response(KeyEndpoints.problem(error), for: call)
            }
        }
    }

    /// Returns the problem of keys that cannot be changed.
    private static func problem(_ failure: KeyFile.Failure) -> Problem {
        switch failure {
        case .unknownID: return Problem(.notFound, failure.description)
        case .notPermitted: return .credentialEnded
        case .tooMany: return .overLimit(.insufficientStorage, failure.description, limit: KeyFile.countLimit)
        case .broken: return Problem(.invalidConfiguration, "the file of keys cannot be read, so it is not replaced")
        case .noAdministrator:
            var problem = Problem.invalidParameter(
                confirm, "\(failure.description) with '\(confirm)=\(CredentialCheck.confirmation)'")
            problem.status = 422
            return problem
        case .storage: return Problem(.insufficientStorage, "the file of keys cannot be replaced")
        }
    }

    // MARK: - Documents

    private func list() -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        for key in server.authenticator.keys.all {
            writer.beginObject()
            key.write(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.nullMember("next")
        writer.endObject()
        return Response(unstored: writer.buffer)
    }

    /// Returns the response with a key and its secret.
    private static func document(_ key: APIKey, _ text: APIKeyText, status: Int) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("key", text: text.text)
        key.write(to: &writer)
        writer.endObject()
        return Response(unstored: writer.buffer, status: status)
    }

    // MARK: - Bodies

    /// Reads the body of a request for a key.
    private static func key(_ text: APIKeyText, _ body: JSONObject) throws(Problem) -> APIKey {
        let known = ["name", "roles", "realm", "expires", "from", "claims"]
        for name in body.names where !known.contains(name) { throw invalid(name, "a key has no '\(name)'") }
        guard let name = body["name"]?.string, KeyRules.isName(name) else { throw invalid("name", KeyRules.nameRule) }
        let roles = try texts(body, "roles")
        guard !roles.isEmpty, roles.allSatisfy(KeyRules.isRole) else { throw invalid("roles", KeyRules.roleRule) }
        var expires: Int64?
        if let value = body["expires"], value != .null {
            guard let time = value.string.flatMap(KeyRules.expiry) else { throw invalid("expires", KeyRules.expiryRule) }
            expires = time
        }
        let ranges = try texts(body, "from")
        let networks = ranges.compactMap { AddressRange($0) }
        guard networks.count == ranges.count else { throw invalid("from", KeyRules.networkRule) }
        return APIKey(
            text, name: name, roles: roles, realm: try realm(body), claims: try claims(body), networks: networks, expires: expires
        )
    }

    private static func realm(_ body: JSONObject) throws(Problem) -> String? {
        guard let value = body["realm"], value != .null else { return nil }
        guard let name = value.string.flatMap({ RealmName($0) }) else { throw invalid("realm", RealmName.rule) }
        return name.text
    }

    private static func claims(_ body: JSONObject) throws(Problem) -> JSONObject {
        guard let value = body["claims"], value != .null else { return JSONObject([]) }
        guard let object = value.object, object.count <= memberLimit else {
            throw invalid("claims", "'claims' is an object of at most \(memberLimit) members")
        }
        return object
    }

    /// Reads an array of texts; none for null and for a member that is absent.
    private static func texts(_ body: JSONObject, _ name: String) throws(Problem) -> [String] {
        guard let value = body[name], value != .null else { return [] }
        guard let elements = value.array, elements.count <= memberLimit else {
            throw invalid(name, "'\(name)' is an array of at most \(memberLimit) strings")
        }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw invalid(name, "'\(name)' is an array of strings") }
        return texts
    }

    /// Makes the problem of a member of the body.
    private static func invalid(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidBody, detail).with("pointer", "/" + JSONPointer.escape(name))
    }
}
