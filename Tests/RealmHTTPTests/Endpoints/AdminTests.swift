// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
@testable import RealmCalls
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Synchronization
import Testing

/// Paths for administrators.
@Suite struct AdminTests {
    private let json = [("Content-Type", "application/json")]

    @Test func `the configuration tells limits and no secrets`() throws {
        let server = try TestServer(["links"]) { $0.limits.page = 77 }
        let answer = try server.get("/admin/config")
        #expect(answer.status == 200)
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer.json["limits"]?.intsByName?["page"] == 77)
        #expect(answer.json["limits"]?.intsByName?.count == Limits.entries.count)
        #expect(answer.json["realms"]?.texts == ["links"])
        #expect(answer.json["logLevel"]?.text == "info")
        #expect(try server.request("OPTIONS", "/admin/config")["Allow"] == "GET, HEAD, PATCH, OPTIONS")
    }

    @Test func `the level of the log can be changed, and nothing else`() throws {
        let server = try TestServer(["links"])
        let changed = try server.request("PATCH", "/admin/config", headers: json, body: #"{"logLevel":"error"}"#)
        #expect(changed.status == 200)
        #expect(changed.json["logLevel"]?.text == "error")
        #expect(try server.get("/admin/config").json["logLevel"]?.text == "error")
        let bad: [(String, [(String, String)], Int, String)] = [
            (#"{"logLevel":"loud"}"#, json, 400, "invalid_parameter"), (#"{"logLevel":3}"#, json, 400, "invalid_parameter"),
            (#"{"page":3}"#, json, 400, "invalid_body"), ("[]", json, 400, "invalid_body"), ("{", json, 400, "invalid_json"),
            ("{}", [("Content-Type", "application/ejson")], 415, "unsupported_media_type"),
        ]
        for (body, headers, status, code) in bad {
            let answer = try server.request("PATCH", "/admin/config", headers: headers, body: body)
            #expect(answer.status == status, "\(body)")
            #expect(answer.code == code, "\(body)")
        }
        #expect(try server.get("/admin/config?x=1").code == "unknown_parameter")
        #expect(try server.request("DELETE", "/admin/config").code == "method_not_allowed")
    }

    @Test func `leases are listed and can be ended`() throws {
        let server = try TestServer(["links"])
        #expect((try server.get("/admin/leases").json["items"]?.elements)?.isEmpty == true)
        let ended = Ended()
        server.server.state.leases.add(
            LeaseRegistry.Lease(id: "s1", kind: .snapshot, realm: "links", principal: nil) {
                ended.count.add(1, ordering: .relaxed)
            })
        let items = try #require(try server.get("/admin/leases").json["items"]?.elements)
        #expect(items.count == 1)
        #expect(items[0]["id"]?.text == "s1")
        #expect(items[0]["kind"]?.text == "snapshot")
        #expect(items[0]["realm"]?.text == "links")
        #expect(try server.request("DELETE", "/admin/leases/s1").status == 204)
        #expect(ended.count.load(ordering: .relaxed) == 1)
        let again = try server.request("DELETE", "/admin/leases/s1")
        #expect(again.status == 404)
        #expect(again.code == "not_found")
        #expect(try server.get("/admin/leases/s1").status == 405)
    }

    private final class Ended: Sendable {
        let count = Atomic<Int>(0)
    }

    @Test func `nobody sees them on an address that others can reach`() throws {
        let server = try TestServer(["links"]) {
            $0.host = "0.0.0.0"
            $0.isInsecure = true
        }
        for path in ["/metrics", "/admin/config", "/admin/leases", "/admin/leases/x"] {
            let answer = try server.get(path)
            #expect(answer.status == 404, "\(path)")
            #expect(answer.code == "not_found")
        }
    }

    @Test func `answers tell where their time went, when asked to`() throws {
        let server = try TestServer(["links"]) { $0.showsTiming = true }
        let people = "/v1/realms/links/objects/Person"
        for target in [people, people + "?where=id%3E3&sort=name", people + "/73", "/healthz", "/nothing"] {
            let text = try #require(try server.get(target)["Server-Timing"] ?? (target == "/nothing" ? "" : nil), "\(target)")
            let parts = text.split(separator: ", ").map { $0.split(separator: ";dur=") }
            guard !text.isEmpty else { continue }
            #expect(parts.map { String($0[0]) } == ["queue", "lock", "query", "encode"])
            #expect(parts.allSatisfy { Double($0[1]) != nil })
        }
        let sorted = try #require(try server.get(people + "?sort=-name")["Server-Timing"])
        #expect(!sorted.contains("query;dur=0.000,"))
        #expect(try TestServer(["links"]).get(people)["Server-Timing"] == nil)
    }
}
