// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmServerSupport
import RealmTestSupport

/// A server with keys, a realm `shop` in a file, and an audit log.
final class AuditServer: Sendable {
    let log: AuditFolder
    let server: KeyServer
    let admin: APIKeyText

    /// What every value that is stored begins with; the log must not have it.
    static let marker = "marker-5c1f"
    private static let schema = """
        {"schemaVersion":1,"classes":[
        {"name":"Order","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"text","type":"string","optional":true},
        {"name":"count","type":"int"}]},
        {"name":"Product","primaryKey":"name","properties":[{"name":"name","type":"string"},
        {"name":"text","type":"string","optional":true}]}]}
        """

    init(isRequired: Bool = false, roles: String? = nil, change: (inout ServerOptions) -> Void = { _ in }) throws {
        let log = try AuditFolder()
        self.log = log
        var configuration = Configuration()
        if let roles { try configuration.apply(text: roles, ofFile: "/realm-rest.yaml") }
        let book = configuration.options.roles
        server = try KeyServer(change: { options in
            options.roles = book
            options.audit.file = log.path
            options.audit.isRequired = isRequired
            change(&options)
        })
        admin = try server.add("root")
        let made = try server.request("POST", "/v1/realms", admin, body: #"{"name":"shop","schema":\#(AuditServer.schema)}"#)
        guard made.status == 201 else { throw HTTPClient.Failure(description: made.text) }
    }

    /// Sends a request with an id.
    @discardableResult
    func send(
        _ id: String, _ method: String, _ target: String, _ key: APIKeyText?, _ headers: [(String, String)] = [],
        body: String? = nil
    ) throws -> HTTPClient.Answer {
        try server.request(method, target, key, headers + [("X-Request-Id", id)], body: body)
    }

    /// Sends a request of the administrator below the realm, and returns its answer and its line.
    func both(
        _ id: String, _ method: String, _ path: String, _ headers: [(String, String)] = [], body: String? = nil
    ) throws -> (answer: HTTPClient.Answer, line: ParsedJSON) {
        let answer = try send(id, method, "/v1/realms/shop" + path, admin, headers, body: body)
        return (answer, try log.line(of: id))
    }

    /// An object with a value that the log must not have.
    static func order(_ id: Int) -> String { #"{"id":\#(id),"text":"\#(marker)-\#(id)","count":1}"# }
}
