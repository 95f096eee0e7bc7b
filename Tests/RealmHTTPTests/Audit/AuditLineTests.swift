// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmCalls
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// What stands in the lines of the audit log, and what does not.
@Suite struct AuditLineTests {
    private func keys(_ line: ParsedJSON) -> [String] { line["keys"]?.texts ?? [] }

    @Test func `a line says who did what, where and with which outcome`() throws {
        let server = try AuditServer()
        let (answer, line) = try server.both("made", "POST", "/objects/Order", body: AuditServer.order(7))
        #expect(answer.status == 201)
        #expect(line["kind"] == "write" && line["method"] == "POST" && line["status"] == 201)
        #expect(line["route"]?.text == RouteTable["/v1/realms/{realm}/objects/{class}"]?.pattern.label)
        #expect(line["realm"] == "shop" && line["class"] == "Order" && keys(line) == ["7"])
        #expect(line["version"]?.text == answer["Realm-Version"] && line["version"] != nil)
        #expect(line["principal"]?["kind"] == "key" && line["principal"]?["id"]?.text == server.admin.id)
        #expect(line["principal"]?["name"] == "root" && line["client"] == "127.0.0.1")
        #expect(line["code"] == nil && line["moreKeys"] == nil && line["dryRun"] == nil, "\(line)")
        let time = try #require(line["time"]?.text)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
        // Twice the same key is a problem, which has no version.
        let again = try server.both("again", "POST", "/objects/Order", body: AuditServer.order(7))
        #expect(again.answer.status == 409 && again.line["status"] == 409 && again.line["code"] == "duplicate_key")
        #expect(again.line["version"] == nil && again.line["kind"] == "write")
    }

    @Test func `writes name the objects that they are about, up to a hundred`() throws {
        let server = try AuditServer()
        #expect(keys(try server.both("put", "PUT", "/objects/Order/1", body: AuditServer.order(1)).line) == ["1"])
        #expect(keys(try server.both("patch", "PATCH", "/objects/Order/1", body: #"{"count":2}"#).line) == ["1"])
        #expect(keys(try server.both("set", "PUT", "/objects/Order/1/count", body: "3").line) == ["1"])
        let all = (1000..<1150).map(AuditServer.order).joined(separator: ",")
        let many = try server.both("many", "POST", "/objects/Order", body: "[\(all)]")
        #expect(many.answer.status == 201 && keys(many.line) == (1000..<1100).map { "\($0)" } && many.line["moreKeys"] == 50)
        let matching = try server.both("where", "PATCH", "/objects/Order?where=id%20%3E%3D%201000", body: #"{"count":9}"#)
        #expect(matching.answer.status == 200 && matching.line["class"] == "Order" && matching.line["version"] != nil)
        #expect(!matching.line.serialized.contains("1000"), "\(matching.line)")
        let ops = """
            {"ops":[{"create":{"class":"Product","body":{"name":"tea","text":"\(AuditServer.marker)"}}},
            {"increment":{"class":"Order","key":"1","property":"count","by":4711}},{"delete":{"class":"Order","key":"1000"}},
            {"deleteWhere":{"class":"Order","where":"count == 4712","args":[]}}]}
            """
        let batch = try server.both("batch", "POST", "/batch", body: ops)
        #expect(batch.answer.status == 200, "\(batch.answer.text)")
        #expect(keys(batch.line) == ["Product/tea", "Order/1", "Order/1000"] && batch.line["class"] == nil)
        let gone = try server.both("gone", "DELETE", "/objects/Order/1")
        #expect(gone.answer.status == 204 && keys(gone.line) == ["1"] && gone.line["version"] != nil)
        let lines = (1..<150).map { #"{"class":"Product","object":{"name":"p\#($0)","text":"\#(AuditServer.marker)"}}"# }
        let imported = try server.send(
            "import", "POST", "/v1/realms/shop/import?class=Product", server.admin, [("Content-Type", "application/x-ndjson")])
        #expect(imported.status == 400)
        #expect(try server.log.line(of: "import")["code"] != nil)
        let client = try HTTPClient(port: server.server.port)
        let body = (1..<150).map { #"{"name":"p\#($0)","text":"\#(AuditServer.marker)"}"# }.joined(separator: "\n")
        for (id, query) in [("atomic", ""), ("parts", "&atomic=false&mode=upsert")] {
            let answer = try client.request(
                "POST", "/v1/realms/shop/import?class=Product" + query,
                headers: [
                    ("Authorization", "Bearer " + server.admin.text), ("X-Request-Id", id),
                    ("Content-Type", "application/x-ndjson"),
                ], body: Array(body.utf8))
            #expect(answer.status == 200, "\(answer.text)")
            let line = try server.log.line(of: id)
            #expect(keys(line) == (1...100).map { "Product/p\($0)" } && line["moreKeys"] == 49, "\(line)")
            #expect(line["version"]?.text == answer["Realm-Version"])
        }
        #expect(lines.count == 149)
        let text = try server.log.text()
        #expect(!text.contains(AuditServer.marker) && !text.contains("4711") && !text.contains("4712"))
    }

    @Test func `dry runs, repetitions and writes that are answered before are told apart`() throws {
        let server = try AuditServer()
        let dry = try server.both("dry", "POST", "/objects/Order?dryRun=true", body: AuditServer.order(1))
        #expect(dry.answer.status == 200 && dry.line["dryRun"] == true && dry.line["version"] == nil)
        let key = [("Idempotency-Key", "once")]
        let first = try server.both("first", "POST", "/objects/Order", key, body: AuditServer.order(1))
        let second = try server.both("second", "POST", "/objects/Order", key, body: AuditServer.order(1))
        #expect(first.answer.status == 201 && second.answer.status == 201)
        #expect(first.line["repeated"] == nil && second.line["repeated"] == true, "\(second.line)")
        let later = try server.both("later", "POST", "/objects/Order", [("Prefer", "respond-async")], body: AuditServer.order(2))
        #expect(later.answer.status == 202 && later.line["status"] == 201 && later.line["version"] != nil, "\(later.line)")
        #expect(keys(later.line) == ["2"])
        let failed = try server.both("fails", "POST", "/objects/Order", [("Prefer", "respond-async")], body: AuditServer.order(2))
        #expect(failed.answer.status == 202 && failed.line["status"] == 409 && failed.line["code"] == "duplicate_key")
    }

    @Test func `a transaction leaves a line for each step, and one for an end that nobody asked for`() throws {
        let server = try AuditServer()
        func begin(_ id: String, _ options: String = "{}") throws -> String {
            let begun = try server.both(id, "POST", "/transactions", body: options)
            try #require(begun.answer.status == 201, "\(begun.answer.text)")
            let name = try #require(begun.answer.json["id"]?.text)
            #expect(begun.line["target"]?.text == name && begun.line["status"] == 201)
            return name
        }
        let first = try begin("t1")
        let inside = [("Realm-Transaction", first)]
        let step = try server.both("s1", "POST", "/objects/Order", inside, body: AuditServer.order(1))
        #expect(step.answer.status == 201 && step.line["transaction"]?.text == first && step.line["version"] == nil)
        #expect(try server.send("r1", "GET", "/v1/realms/shop/objects/Order/1", server.admin, inside).status == 200)
        let commit = try server.both("c1", "POST", "/transactions/\(first)/commit")
        #expect(commit.answer.status == 200 && commit.line["target"]?.text == first)
        #expect(commit.line["version"]?.text == commit.answer.json["version"]?.text && commit.line["version"] != nil)
        let second = try begin("t2")
        let rolledBack = try server.both("b2", "DELETE", "/transactions/\(second)")
        #expect(
            rolledBack.answer.status == 204 && rolledBack.line["kind"] == "write" && rolledBack.line["target"]?.text == second)
        // One that is left alone, and one in which a write fails.
        let third = try begin("t3", #"{"idle":"100ms"}"#)
        func ends(_ name: String) throws -> [ParsedJSON] {
            try server.log.lines().filter { $0["kind"] == "transaction" && $0["target"]?.text == name }
        }
        #expect(try eventually { try !ends(third).isEmpty })
        let end = try #require(try ends(third).first)
        #expect(end["state"] == "expired" && end["realm"] == "shop" && end["principal"]?["id"]?.text == server.admin.id)
        #expect(end["id"] == "t3" && end["method"] == nil)
        let fourth = try begin("t4")
        let failing = try server.both("f4", "POST", "/objects/Order", [("Realm-Transaction", fourth)], body: #"{"id":"x"}"#)
        #expect(failing.answer.status == 422 && failing.line["transaction"]?.text == fourth)
        #expect(try eventually { try ends(fourth).first?["state"] == "aborted" })
        let lines = try server.log.lines()
        let at = try #require(lines.firstIndex { $0["id"] == "f4" })
        #expect(lines[at + 1]["kind"] == "transaction")
        for name in [first, second] { #expect(try ends(name).isEmpty) }
        // Reads leave none.
        #expect(!lines.contains { $0["id"] == "r1" })
    }

    @Test func `exports, copies and restored files leave lines`() throws {
        let server = try AuditServer()
        #expect(try server.both("o", "POST", "/objects/Order", body: AuditServer.order(1)).answer.status == 201)
        let export = try server.both("export", "GET", "/export?class=Order&where=text%20!%3D%20'secret-4711'")
        #expect(export.answer.status == 200 && export.answer.text.contains(AuditServer.marker))
        #expect(export.line["kind"] == "export" && export.line["version"]?.text == export.answer["Realm-Version"])
        let copy = try server.both("copy", "GET", "/backup")
        #expect(copy.answer.status == 200 && copy.line["kind"] == "backup" && copy.line["status"] == 200)
        let compact = try server.both("compact", "POST", "/compact")
        #expect(compact.answer.status == 200 && compact.line["kind"] == "administration" && compact.line["status"] == 200)
        let restore = try server.send(
            "restore", "POST", "/v1/realms/shop/restore", server.admin, [("Content-Type", "application/json")], body: "{}")
        let line = try server.log.line(of: "restore")
        #expect(restore.status >= 400 && line["kind"] == "backup" && line["status"]?.int == restore.status)
        let migration = try server.both(
            "migrate", "POST", "/migrations",
            body: #"{"schemaVersion":2,"steps":[{"addProperty":{"class":"Order","name":"extra","type":"int","optional":true}}]}"#)
        #expect(migration.line["kind"] == "administration" && migration.line["status"]?.int == migration.answer.status)
        // What queries look for is nobody's business.
        let text = try server.log.text()
        #expect(!text.contains("4711") && !text.contains(AuditServer.marker))
    }

    @Test func `administration leaves lines, without secrets`() throws {
        let server = try AuditServer()
        func line(_ id: String, _ method: String, _ target: String, body: String? = nil) throws -> (HTTPClient.Answer, ParsedJSON)
        {
            let answer = try server.send(id, method, target, server.admin, body: body)
            return (answer, try server.log.line(of: id))
        }
        let (made, key) = try line("k1", "POST", "/admin/keys", body: #"{"name":"clerk","roles":["read"]}"#)
        let id = try #require(made.json["id"]?.text)
        let secret = try #require(made.json["key"]?.text)
        #expect(made.status == 201 && key["kind"] == "administration" && key["target"]?.text == id && key["status"] == 201)
        let (rotated, rotation) = try line("k2", "POST", "/admin/keys/\(id)/rotate")
        #expect(rotated.status == 200 && rotation["target"]?.text == id)
        let (_, revocation) = try line("k3", "DELETE", "/admin/keys/\(id)")
        #expect(revocation["status"] == 204 && revocation["target"]?.text == id)
        let (_, config) = try line("c", "PATCH", "/admin/config", body: #"{"logLevel":"warning"}"#)
        #expect(config["kind"] == "administration" && config["status"] == 200)
        let (reload, reloading) = try line("r", "POST", "/admin/reload")
        #expect(reload.status == 422 && reloading["code"] == "invalid_configuration")
        let (_, lease) = try line("l", "DELETE", "/admin/leases/none")
        #expect(lease["status"] == 404 && lease["target"] == "none")
        let (attached, attaching) = try line("a", "POST", "/v1/realms", body: #"{"name":"more","inMemory":"more"}"#)
        #expect(attached.status == 201 && attaching["realm"] == "more" && attaching["kind"] == "administration")
        let (_, detaching) = try line("d", "DELETE", "/v1/realms/more")
        #expect(detaching["realm"] == "more" && detaching["status"] == 204)
        let (_, session) = try line("s", "POST", "/v1/session")
        #expect(session["kind"] == "session" && session["status"] == 201)
        // Looking leaves none.
        for path in ["/admin/keys", "/admin/config", "/admin/leases", "/metrics", "/v1/realms"] {
            #expect(try server.send("look", "GET", path, server.admin).status == 200)
        }
        _ = try line("last", "PATCH", "/admin/config", body: "{}")
        #expect(try server.log.lines().allSatisfy { $0["id"] != "look" })
        let text = try server.log.text()
        for text in [secret, try #require(rotated.json["key"]?.text), server.admin.text].map({ String($0.suffix(30)) })
        where try server.log.text().contains(text) { Issue.record("a secret is in the log") }
        #expect(!text.contains("csrf") && !text.contains("__Host"))
    }

    @Test func `refusals leave lines, also those that look as if nothing were there`() throws {
        let roles = "roles: {viewer: {realms: {shop: {classes: {Order: [read]}}}}}\n"
        let server = try AuditServer(roles: roles)
        let viewer = try server.server.add("viewer", roles: ["viewer"])
        let guest = try server.server.add("guest", roles: ["nobody"])
        let wrong = APIKeyText()
        let cases: [(id: String, method: String, target: String, key: APIKeyText?, status: Int)] = [
            ("none", "GET", "/v1/realms/shop/objects/Order", nil, 401),
            ("wrong", "GET", "/v1/realms/shop/objects/Order", wrong, 401),
            ("write", "POST", "/v1/realms/shop/objects/Order", viewer, 403),
            ("delete", "DELETE", "/v1/realms/shop/objects/Order/77", viewer, 403),
            ("other", "GET", "/v1/realms/notes/schema", viewer, 404),
            ("guest", "GET", "/v1/realms/shop/objects/Order", guest, 404),
            ("admin", "GET", "/admin/keys", viewer, 404),
            ("attach", "POST", "/v1/realms", guest, 403),
        ]
        for one in cases {
            let body = one.method == "POST" ? AuditServer.order(1) : nil
            let answer = try server.send(one.id, one.method, one.target, one.key, body: body)
            #expect(answer.status == one.status, "\(one.id) \(answer.text)")
            let line = try server.log.line(of: one.id)
            #expect(
                line["kind"] == "refusal" && line["status"]?.int == one.status && line["code"]?.text == answer.code, "\(line)")
            #expect(line["method"]?.text == one.method && line["client"] == "127.0.0.1")
            let id = line["principal"]?["id"]?.text
            #expect(one.id == "none" || one.id == "wrong" ? id == nil : id == one.key?.id, "\(line)")
        }
        #expect(try server.log.line(of: "delete")["keys"]?.texts == ["77"])
        #expect(try server.log.line(of: "other")["realm"] == "notes")
        // A realm that is not there for anybody is no refusal, nor is a path that nobody has, nor what is allowed.
        #expect(try server.send("missing", "GET", "/v1/realms/none/schema", server.admin).status == 404)
        #expect(try server.send("nothing", "GET", "/nothing", server.admin).status == 404)
        #expect(try server.send("object", "GET", "/v1/realms/shop/objects/Order/5", viewer).status == 404)
        #expect(
            try server.send("page", "GET", "/v1/realms/shop/objects/Order", server.admin, [("Origin", "http://x.example")]).status
                == 403)
        #expect(try server.log.line(of: "page")["code"] == "cross_origin")
        let lines = try server.log.lines()
        #expect(!lines.contains { ["missing", "nothing", "object"].contains($0["id"]?.text) })
        #expect(try !server.log.text().contains(String(wrong.text.suffix(30))))
    }

    @Test func `too many wrong credentials are refusals, too many requests are not`() throws {
        let server = try AuditServer(change: { $0.limits.rate = 40 })
        var refused = 0
        for number in 0..<14 {
            let answer = try server.send("w\(number)", "GET", "/v1/realms", APIKeyText())
            if answer.status == 429 { refused += 1 }
            #expect(try server.log.line(of: "w\(number)")["status"]?.int == answer.status)
        }
        #expect(refused >= 3)
        var limited = ""
        for number in 0..<200 where limited.isEmpty {
            if try server.send("r\(number)", "GET", "/v1/realms", server.admin).status == 429 { limited = "r\(number)" }
        }
        #expect(!limited.isEmpty)
        Threads.sleep(seconds: 1.1)
        #expect(try server.send("after", "PATCH", "/admin/config", server.admin, body: "{}").status == 200)
        _ = try server.log.line(of: "after")
        #expect(try !server.log.lines().contains { $0["id"]?.text == limited })
    }

    @Test func `names and keys of any length and kind make a line of bounded length`() throws {
        let server = try AuditServer()
        let long = String(repeating: "ä", count: 700)
        let strange = "a\nb\u{1}\"\\\u{2028}"
        for (id, name) in [("long", long), ("strange", strange)] {
            var allowed = CharacterSet.alphanumerics
            allowed.remove(charactersIn: "ä")
            let path = try #require(name.addingPercentEncoding(withAllowedCharacters: allowed))
            let (answer, line) = try server.both(id, "PUT", "/objects/Product/\(path)", body: "{}")
            #expect(answer.status == 201, "\(answer.text)")
            let key = try #require(line["keys"]?.texts?.first)
            #expect(id == "strange" ? key == strange : key == String(repeating: "ä", count: 128) + "…")
        }
        #expect(try server.log.text().split(separator: "\n").allSatisfy { $0.utf8.count < 2000 })
    }
}
