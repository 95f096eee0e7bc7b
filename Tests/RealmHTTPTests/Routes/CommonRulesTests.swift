// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What holds for every request, before any endpoint is asked.
@Suite struct CommonRulesTests {
    struct Bad: Sendable, CustomTestStringConvertible {
        var method = "GET"
        let target: String
        var headers: [(String, String)] = []
        let status: Int
        let code: String
        var testDescription: String { "\(method) \(target.prefix(60)) -> \(code)" }
    }

    static let requests: [Bad] = [
        Bad(target: "//", status: 404, code: "not_found"),
        Bad(target: "/v1", status: 404, code: "not_found"),
        Bad(target: "/v1/", status: 404, code: "not_found"),
        Bad(target: "/v1/realms/", status: 404, code: "not_found"),
        Bad(target: "/v1/realms/links/", status: 404, code: "not_found"),
        Bad(target: "/v1//realms", status: 404, code: "not_found"),
        Bad(target: "/v2/realms", status: 404, code: "not_found"),
        Bad(target: "/v1/realms/links/nothing", status: 404, code: "not_found"),
        Bad(target: "/v1/realms/none", status: 404, code: "realm_not_found"),
        Bad(target: "/v1/realms/%ff", status: 404, code: "realm_not_found"),
        Bad(target: "/v1/realms/none/objects/Dog", status: 404, code: "realm_not_found"),
        Bad(target: "/healthz?x=1", status: 400, code: "unknown_parameter"),
        Bad(target: "/v1/realms?x=1", status: 400, code: "unknown_parameter"),
        Bad(target: "/v1/realms?x=%", status: 400, code: "invalid_parameter"),
        Bad(method: "PUT", target: "/v1/realms", status: 405, code: "method_not_allowed"),
        Bad(method: "POST", target: "/v1/realms/links/objects/Dog", status: 405, code: "read_only"),
        Bad(method: "DELETE", target: "/healthz", status: 405, code: "method_not_allowed"),
        Bad(method: "TRACE", target: "/healthz", status: 405, code: "method_not_allowed"),
        Bad(method: "TRACE", target: "/v1/realms/links/objects/Dog", status: 405, code: "method_not_allowed"),
        Bad(method: "BREW", target: "/healthz", status: 501, code: "not_implemented"),
        Bad(target: "/healthz", headers: [("Host", "evil.example")], status: 421, code: "host_not_allowed"),
        Bad(target: "/none", headers: [("Host", "evil.example:80")], status: 421, code: "host_not_allowed"),
        Bad(target: "/healthz", headers: [("Host", "")], status: 400, code: "invalid_parameter"),
        Bad(target: "/" + String(repeating: "a", count: 9000), status: 414, code: "uri_too_long"),
        Bad(
            target: "/healthz", headers: [("X-A", String(repeating: "a", count: 17_000))], status: 431, code: "headers_too_large"),
        Bad(target: "/healthz", headers: (0..<101).map { ("X-\($0)", "1") }, status: 431, code: "headers_too_large"),
        Bad(
            method: "POST", target: "/v1/realms/links/query/Dog", headers: [("Origin", "http://evil.example")], status: 403,
            code: "cross_origin"),
    ]

    @Test(arguments: requests)
    func `bad requests are told apart`(_ bad: Bad) throws {
        let server = try TestServer(["links"])
        let answer = try server.request(bad.method, bad.target, headers: bad.headers)
        #expect(answer.status == bad.status)
        #expect(answer.code == bad.code)
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer.json["type"]?.text == "urn:realm-rest:problem:" + bad.code)
        #expect(answer.json["status"]?.int == bad.status)
        #expect(answer.json["instance"]?.text == "urn:uuid:" + (answer["X-Request-Id"] ?? ""))
        #expect((answer.status == 405) == (answer["Allow"] != nil))
    }

    /// Less memory for a connection made the daemon close it instead.
    @Test(arguments: [(8_190, 100, 16_300), (8_190, 3, 16_300), (100, 100, 16_300), (8_000, 50, 16_000)])
    func `the largest requests that are allowed are answered`(_ target: Int, _ fields: Int, _ bytes: Int) throws {
        let server = try TestServer(["links"])
        let path = "/v1/realms/links/objects/Person?limit=1&where=TRUEPREDICATE"
        let padding = String(repeating: "%20", count: max(0, target - path.utf8.count) / 3)
        let share = (bytes - 30) / (fields - 1)
        let headers = (1..<fields).map { number in
            let name = "X-\(number)"
            return (name, String(repeating: "a", count: share - name.utf8.count - 4))
        }
        let answer = try server.get(path + padding, headers: headers)
        #expect(answer.status == 200, "\(answer.text.prefix(200))")
    }

    @Test func `hosts of the loopback and those configured are answered`() throws {
        let server = try TestServer(["links"]) { $0.extraHosts = ["db.example"] }
        for host in ["localhost", "LOCALHOST:99", "127.0.0.1", "[::1]:8080", "db.example", "DB.example:443"] {
            #expect(try server.get("/healthz", headers: [("Host", host)]).status == 200)
        }
    }

    @Test func `the client's request id comes back`() throws {
        let server = try TestServer(["links"])
        let answer = try server.get("/nothing", headers: [("X-Request-Id", "abc-1")])
        #expect(answer["X-Request-Id"] == "abc-1")
        #expect(answer.json["instance"]?.text == "urn:realm-rest:request:abc-1")
        #expect(try server.get("/nothing", headers: [("X-Request-Id", "a b")])["X-Request-Id"] != "a b")
    }

    @Test func `OPTIONS tells the methods`() throws {
        let server = try TestServer(["links"])
        let objects = try server.request("OPTIONS", "/v1/realms/links/objects/Dog")
        #expect(objects.status == 204)
        #expect(objects["Allow"] == "GET, HEAD, QUERY, OPTIONS")
        #expect(objects["Accept-Query"] != nil)
        #expect(try server.request("OPTIONS", "*")["Allow"]?.contains("QUERY") == true)
        #expect(try server.request("OPTIONS", "/v1/realms/none/objects/Dog").status == 404)
    }

    @Test func `health, readiness and metrics`() throws {
        let server = try TestServer(["links"])
        #expect(try server.get("/healthz").text == "{\"status\":\"ok\"}")
        let ready = try server.get("/readyz")
        #expect(ready.text == "{\"status\":\"ready\"}")
        #expect(ready["Cache-Control"] == "no-store")
        // A request is counted when its answer has left, which its client may notice first.
        let wanted = [
            "realm_rest_requests_total{route=\"/healthz\",status=\"200\"} 1", "realm_rest_in_flight 1",
            "realm_rest_request_seconds_bucket{route=\"/readyz\",le=\"+Inf\"} 1",
        ]
        var missing = wanted
        _ = eventually {
            let metrics = (try? server.get("/metrics").text) ?? ""
            missing = wanted.filter { !metrics.contains($0) }
            return missing.isEmpty
        }
        #expect(missing == [])
    }

    @Test func `realms are listed with their facts`() throws {
        let server = try TestServer(["links", "empty"])
        let list = try server.get("/v1/realms").json
        let items = try #require(list["items"]?.elements)
        #expect(items.compactMap { $0["name"]?.text } == ["empty", "links"])
        let one = try server.get("/v1/realms/links")
        #expect(one.json["state"]?.text == "ready")
        #expect(one.json["mode"]?.text == "ro")
        #expect(one.json["fileFormat"]?.int == 24)
        #expect(one["Realm-Version"] == one.json["version"]?.text)
        let head = try server.request("HEAD", "/v1/realms/links")
        #expect(head.body.isEmpty)
        #expect(head["Content-Length"] == one["Content-Length"])
    }

    @Test func `pages of listed origins may read answers`() throws {
        let server = try TestServer(["links"]) { $0.corsOrigins = ["https://app.example"] }
        let shared = try server.get("/v1/realms", headers: [("Origin", "https://app.example")])
        #expect(shared["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(shared["Access-Control-Expose-Headers"]?.contains("Realm-Version") == true)
        #expect(shared["Vary"]?.contains("Origin") == true)
        let asked = try server.request(
            "OPTIONS", "/v1/realms/links/objects/Dog",
            headers: [
                ("Origin", "https://app.example"), ("Access-Control-Request-Method", "QUERY"),
                ("Access-Control-Request-Headers", "content-type"),
            ])
        #expect(asked["Access-Control-Allow-Methods"]?.contains("QUERY") == true)
        #expect(asked["Access-Control-Allow-Headers"] == "content-type")
        #expect(asked["Access-Control-Max-Age"] == "600")
        #expect(asked["Realm-Version"] != nil)
        #expect(try server.get("/v1/realms", headers: [("Origin", "https://evil.example")])["Access-Control-Allow-Origin"] == nil)
    }

    @Test func `large answers are packed for those who ask`() throws {
        let server = try TestServer(["links", "lists", "mixed", "names", "gaps", "empty"])
        let plain = try server.get("/v1/realms")
        let packed = try server.get("/v1/realms", headers: [("Accept-Encoding", "br, gzip;q=0.5")])
        #expect(packed["Content-Encoding"] == "gzip")
        #expect(packed.body.count < plain.body.count)
        #expect(packed.body.starts(with: [0x1f, 0x8b]))
        for header in ["br", "gzip;q=0", ""] {
            #expect(try server.get("/v1/realms", headers: [("Accept-Encoding", header)])["Content-Encoding"] == nil)
        }
        #expect(try server.get("/healthz", headers: [("Accept-Encoding", "gzip")])["Content-Encoding"] == nil)
    }
}
