// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Servers whose audit log cannot be written.
@Suite struct AuditRequiredTests {
    /// Moves the folder of the log away for the time of a body.
    private func withoutFolder(_ server: AuditServer, _ body: () throws -> Void) throws {
        let away = server.log.folder + "-away"
        try FileManager.default.moveItem(atPath: server.log.folder, toPath: away)
        defer { try? FileManager.default.moveItem(atPath: away, toPath: server.log.folder) }
        #expect(try eventually { try server.server.request("GET", "/readyz").json["audit"] == "unavailable" })
        try body()
    }

    private func metric(_ server: AuditServer, _ name: String) throws -> String? {
        let text = try server.server.request("GET", "/metrics", server.admin).text
        return text.split(separator: "\n").first { $0.hasPrefix("realm_rest_\(name) ") }.map {
            String($0.split(separator: " ")[1])
        }
    }

    @Test func `with a required log nothing is done that would leave a line, until there can be lines again`() throws {
        let server = try AuditServer(isRequired: true)
        let (key, path) = (server.admin, "/v1/realms/shop")
        #expect(try server.both("before", "POST", "/objects/Order", body: AuditServer.order(1)).answer.status == 201)
        let begun = try server.both("begin", "POST", "/transactions", body: #"{"idle":"5s"}"#)
        let transaction = try #require(begun.answer.json["id"]?.text)
        try withoutFolder(server) {
            let refused: [(String, String, String?)] = [
                ("POST", path + "/objects/Order", AuditServer.order(2)), ("PUT", path + "/objects/Order/3", AuditServer.order(3)),
                ("PATCH", path + "/objects/Order/1", #"{"count":9}"#), ("DELETE", path + "/objects/Order/1", nil),
                ("DELETE", path + "/objects/Order?where=TRUEPREDICATE", nil), ("POST", path + "/batch", #"{"ops":[]}"#),
                ("POST", path + "/transactions", "{}"), ("POST", path + "/transactions/\(transaction)/commit", nil),
                ("POST", path + "/migrations", "{}"), ("GET", path + "/export", nil), ("GET", path + "/backup", nil),
                ("POST", path + "/compact", nil), ("POST", path + "/backups", nil),
                ("POST", "/v1/realms", #"{"inMemory":"x"}"#), ("DELETE", path, nil),
                ("POST", "/admin/keys", #"{"name":"x","roles":["admin"]}"#), ("PATCH", "/admin/config", #"{"logLevel":"debug"}"#),
            ]
            for (method, target, body) in refused {
                let answer = try server.server.request(method, target, key, body: body)
                #expect(answer.status == 503 && answer.code == "audit_unavailable", "\(method) \(target): \(answer.text)")
                #expect(answer["Retry-After"] != nil)
            }
            let inside = try server.server.request(
                "POST", path + "/objects/Order", key, [("Realm-Transaction", transaction)], body: AuditServer.order(4))
            #expect(inside.code == "audit_unavailable")
            // Reads go on, and what only gives something up.
            #expect(try server.server.request("GET", path + "/objects/Order/1", key).json["count"] == 1)
            #expect(try server.server.request("GET", path + "/objects/Order", key).json["items"]?.elements?.count == 1)
            #expect(try server.server.request("DELETE", path + "/transactions/\(transaction)", key).status == 204)
            #expect(try server.server.request("GET", "/readyz").status == 200)
            #expect(try server.server.request("GET", "/v1/realms", nil).status == 401)
            #expect(try metric(server, "audit_unavailable") == "1")
        }
        #expect(try eventually { try server.server.request("GET", "/readyz").json["audit"] == nil })
        let after = try server.both("after", "POST", "/objects/Order", body: AuditServer.order(5))
        #expect(after.answer.status == 201 && after.line["status"] == 201)
        #expect(try metric(server, "audit_unavailable") == "0" && metric(server, "audit_refusals_total") == "18")
        // Nothing of what was refused was done, and what happened meanwhile stands there.
        #expect(try server.server.request("GET", path + "/objects/Order", key).json["items"]?.elements?.count == 2)
        let lines = try server.log.lines()
        #expect(lines.contains { $0["status"] == 204 && $0["target"]?.text == transaction })
        #expect(lines.contains { $0["kind"] == "refusal" && $0["status"] == 401 })
        #expect(!lines.contains { $0["code"] == "audit_unavailable" })
    }

    @Test func `a log that is not required stops nothing, and catches up`() throws {
        let server = try AuditServer()
        try withoutFolder(server) {
            for number in 0..<20 {
                let answer = try server.send(
                    "w\(number)", "POST", "/v1/realms/shop/objects/Order", server.admin, body: AuditServer.order(number))
                #expect(answer.status == 201)
            }
        }
        #expect(try eventually { try server.server.request("GET", "/readyz").json["audit"] == nil })
        let ids = try server.log.lines().compactMap { $0["id"]?.text }.filter { $0.hasPrefix("w") }
        #expect(ids == (0..<20).map { "w\($0)" })
    }

    @Test func `a server does not start with a log that it cannot write`() throws {
        for path in ["/none/audit.log", "/dev/full"] {
            #expect(throws: RealmServer.Failure.self) {
                try RealmServer(
                    {
                        var options = ServerOptions()
                        (options.port, options.logFormat, options.memoryRealms) = (0, nil, ["m"])
                        options.audit.file = path
                        return options
                    }())
            }
        }
    }
}
