// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport

extension KeyServer {
    /// Starts a server with the roles of a configuration file.
    convenience init(statingRoles yaml: String, change: @escaping (inout ServerOptions) -> Void = { _ in }) throws {
        var configuration = Configuration()
        try configuration.apply(text: yaml, ofFile: "/realm-rest.yaml")
        let roles = configuration.options.roles
        try self.init(change: { options in
            options.roles = roles
            change(&options)
        })
    }

    /// Attaches a realm in memory with the classes of a schema, in the place of one of the same name.
    func attach(_ name: String, _ classes: String, _ admin: APIKeyText) throws {
        _ = try request("DELETE", "/v1/realms/\(name)", admin)
        let body = #"{"name":"\#(name)","inMemory":"\#(name)","schema":{"schemaVersion":1,"classes":[\#(classes)]}}"#
        let answer = try request("POST", "/v1/realms", admin, body: body)
        guard answer.status == 201 else { throw HTTPClient.Failure(description: answer.text) }
    }

    /// Writes to a path below the list of realms, such as an object or several, or to the list itself.
    func post(_ path: String, _ admin: APIKeyText, _ body: String) throws {
        let answer = try request("POST", path.isEmpty ? "/v1/realms" : "/v1/realms/\(path)", admin, body: body)
        guard answer.status < 300 else { throw HTTPClient.Failure(description: answer.text) }
    }
}
