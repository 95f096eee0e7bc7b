// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// What one connection may do after the credential of its last request is known: no more than that credential.
@Suite struct CredentialMemoTests {
    /// What a request with a header field is answered on a connection that is there.
    private func ask(_ client: HTTPClient, _ authorization: String?, _ more: String = "") throws -> Int {
        let field = authorization.map { "Authorization: \($0)\r\n" } ?? ""
        try client.send("GET /v1/realms HTTP/1.1\r\nHost: 127.0.0.1\r\n\(field)\(more)\r\n")
        return try client.readAnswer().status
    }

    @Test func `a connection has the rights of each request's own credential`() throws {
        let server = try KeyServer()
        let (key, other) = (try server.add("a"), try server.add("b"))
        let client = try HTTPClient(port: server.port)
        let wrong = String(key.text.dropLast(2)) + (key.text.hasSuffix("00") ? "11" : "00")
        for _ in 0..<3 {
            #expect(try ask(client, "Bearer \(key.text)") == 200)
            #expect(try ask(client, nil) == 401)
            #expect(try ask(client, "Bearer \(wrong)") == 401)
            #expect(try ask(client, "Bearer \(other.text)") == 200)
        }
    }

    @Test func `a key that is revoked is refused on the connection that has used it`() throws {
        let server = try KeyServer()
        let key = try server.add("a")
        let client = try HTTPClient(port: server.port)
        for _ in 0..<3 { #expect(try ask(client, "Bearer \(key.text)") == 200) }
        try server.file.revoke(key.id)
        server.server.state.authenticator.keys.refresh()
        #expect(try ask(client, "Bearer \(key.text)") == 401)
    }

    @Test func `a key for some networks is refused when a proxy names another one`() throws {
        let server = try KeyServer(change: { $0.trustedProxies = TrustedProxies(["127.0.0.1"].compactMap { AddressRange($0) }) })
        let key = try server.add("a", from: ["10.1.0.0/16"])
        let client = try HTTPClient(port: server.port)
        for _ in 0..<3 {
            #expect(try ask(client, "Bearer \(key.text)", "X-Forwarded-For: 10.1.2.3\r\n") == 200)
            #expect(try ask(client, "Bearer \(key.text)", "X-Forwarded-For: 10.2.2.3\r\n") == 401)
        }
    }
}
