// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
@testable import RealmBackups
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Who stands in the logs: holders of tokens, clients behind proxies, streams that end.
@Suite struct AuditSenderTests {
    /// Knows the tokens that begin with `good`, each a moment after it was asked.
    private final class Verifier: BearerVerifier {
        func known(_ token: String) -> Principal? { nil }

        func verify(_ token: String, then: @Sendable @escaping (Principal?) -> Void) {
            Thread.detachNewThread {
                Threads.sleep(seconds: 0.02)
                let name = String(token.dropFirst(5))
                then(token.hasPrefix("good.") ? Principal(kind: .jwt, id: "issuer " + name, name: name, roles: [name]) : nil)
            }
        }
    }

    private static let roles = """
        roles:
          admin: {administer: true}
          small: {administer: true, limits: {body-bytes: 60}}
          large: {administer: true, limits: {body-bytes: 9MiB}}
        """

    @Test func `who sends a token that has to be verified first stands in the line, refused or not`() throws {
        let server = try AuditServer(roles: AuditSenderTests.roles, change: { $0.verifier = Verifier() })
        func send(_ id: String, _ token: String, _ body: String) throws -> HTTPClient.Answer {
            try server.send(
                id, "POST", "/v1/realms/shop/objects/Order", nil, [("Authorization", "Bearer " + token)], body: body)
        }
        #expect(try send("good", "good.admin", AuditServer.order(1)).status == 201)
        let line = try server.log.line(of: "good")
        #expect(line["principal"]?["kind"] == "jwt" && line["principal"]?["id"] == "issuer admin" && line["kind"] == "write")
        #expect(try send("bad", "bad.a.token-7f3a", AuditServer.order(2)).status == 401)
        let refusal = try server.log.line(of: "bad")
        #expect(refusal["kind"] == "refusal" && refusal["principal"]?["kind"] == "anonymous")
        #expect(try send("none", "good.nobody", AuditServer.order(3)).status == 404)
        let hidden = try server.log.line(of: "none")
        #expect(hidden["kind"] == "refusal" && hidden["status"] == 404 && hidden["principal"]?["name"] == "nobody")
        #expect(try !server.log.text().contains("token-7f3a"))
        // The limit of its role holds for the first request as well, above and below that of the server.
        let long = String(AuditServer.order(4).dropLast()) + String(repeating: " ", count: 100) + "}"
        let refused = try send("small", "good.small", long)
        #expect(refused.status == 413 && refused.json["limit"] == 60, "\(refused.text)")
        let longer = String(AuditServer.order(5).dropLast()) + String(repeating: " ", count: 8_500_000) + "}"
        #expect(try send("large", "good.large", longer).status == 201)
        #expect(try send("admin", "good.admin", longer).status == 413)
        #expect(try server.server.request("GET", "/v1/realms/shop/objects/Order/4", server.admin).status == 404)
    }

    @Test func `a poll that ends with its key leaves a line`() throws {
        let server = try AuditServer()
        let key = try server.server.add("reader")
        let path = "/v1/realms/shop/changes?class=Order"
        let now = try server.server.request("GET", path + "&initial=false", key).json["next"]?.text ?? ""
        let poll = try HTTPClient(port: server.server.port)
        try poll.send(
            "GET \(path)&since=\(now)&wait=15 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: poll\r\n"
                + "Authorization: Bearer \(key.text)\r\n\r\n")
        Threads.sleep(seconds: 0.2)
        #expect(try server.send("revoke", "DELETE", "/admin/keys/\(key.id)", server.admin).status == 204)
        #expect(try poll.readAnswer().status == 401)
        let line = try server.log.line(of: "poll")
        #expect(line["kind"] == "refusal" && line["principal"]?["id"]?.text == key.id)
    }

    @Test func `behind a trusted proxy the line has the address of its client, and only there`() throws {
        let proxied = try AuditServer(change: { options in
            options.trustedProxies = TrustedProxies(["127.0.0.1"].compactMap { AddressRange($0) })
        })
        let forwarded = [("X-Forwarded-For", "192.0.2.44, 198.51.100.9")]
        for (id, method, key) in [("write", "POST", proxied.admin), ("refused", "POST", APIKeyText())] {
            try proxied.send(id, method, "/v1/realms/shop/objects/Order", key, forwarded, body: AuditServer.order(1))
            #expect(try proxied.log.line(of: id)["client"] == "198.51.100.9")
        }
        try proxied.send(
            "untold", "POST", "/v1/realms/shop/objects/Order", proxied.admin, forwarded + [("Forwarded", "for=unknown")],
            body: AuditServer.order(2))
        #expect(try proxied.log.line(of: "untold")["client"] == "unknown")
        let plain = try AuditServer()
        try plain.send("write", "POST", "/v1/realms/shop/objects/Order", plain.admin, forwarded, body: AuditServer.order(1))
        #expect(try plain.log.line(of: "write")["client"] == "127.0.0.1")
    }

    @Test(.enabled(if: ServerProcess.executable != nil, "the executable is not built"))
    func `the access log has the principal and the address of the client`() throws {
        let folder = try AuditFolder()
        let program = try #require(ServerProcess.executable)
        let key = APIKeyText()
        try FileManager.default.createDirectory(atPath: folder.folder + "/data", withIntermediateDirectories: true)
        try KeyFile(dataFolder: folder.folder + "/data").add(APIKey(key, name: "root", roles: ["admin"]))
        let server = try ServerProcess(
            command:
                "cd '\(folder.folder)' && exec '\(program)' serve --port 0 --data data --trusted-proxy 127.0.0.1 > >(tee log)")
        func get(_ id: String, _ headers: [(String, String)]) throws {
            _ = try HTTPClient.request(port: server.port, "GET", "/v1/realms", headers: headers + [("X-Request-Id", id)])
        }
        try get("known", [("Authorization", "Bearer " + key.text), ("Forwarded", "for=198.51.100.9")])
        try get("unknown", [])
        func line(_ id: String) throws -> ParsedJSON? {
            let log = try String(contentsOfFile: folder.folder + "/log", encoding: .utf8)
            return try log.split(separator: "\n").filter { $0.hasPrefix("{") && $0.contains("\"\(id)\"") }.first.map {
                try ParsedJSON(parsing: String($0))
            }
        }
        #expect(try eventually { try line("known") != nil && line("unknown") != nil })
        let known = try #require(try line("known"))
        #expect(known["principal"]?.text == "key:" + key.id && known["client"] == "198.51.100.9", "\(known)")
        let unknown = try #require(try line("unknown"))
        #expect(unknown["principal"] == .null && unknown["client"] == "127.0.0.1" && unknown["status"] == 401)
        #expect(server.stop() == 0)
    }

    @Test func `a planned backup leaves a line that nobody has sent`() throws {
        let store = try AuditFolder()
        let server = try AuditServer(change: { options in
            options.backupPlan = BackupPlan(every: .seconds(1), to: FolderBackupStore(store.folder))
        })
        func made() throws -> ParsedJSON? {
            try server.log.lines().first { $0["kind"] == "backup" && $0["state"] == "made" && $0["method"] == nil }
        }
        #expect(try eventually { try made() != nil })
        let line = try #require(try made())
        #expect(line["principal"] == nil && line["realm"] == "shop" && line["status"] == nil)
    }
}
