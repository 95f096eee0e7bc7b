// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Reads that are asked again: what is kept, and that nobody can tell.
@Suite struct RepeatedReadTests {
    private let targets = [
        "/v1/realms/links/objects/Person?limit=5", "/v1/realms/links/objects/Person?limit=5&ints=string",
        "/v1/realms/links/objects/Person/73", "/v1/realms/links/aggregate/Person?ops=count,max:id",
        "/v1/realms/links/objects/Person?format=csv&limit=3", "/v1/realms/links/objects/Person/73/dogs",
    ]

    private func metric(_ name: String, _ server: TestServer) throws -> Int {
        Int(try #require(ServerMetrics(try server.get("/metrics").text)[name]))
    }

    @Test func `the answer is the same every time, but for its id`() throws {
        let server = try TestServer(["links"])
        for target in targets {
            let first = try server.get(target)
            #expect(first.status == 200, "\(target)")
            for _ in 0..<3 {
                let again = try server.get(target)
                #expect(again.status == 200)
                #expect(again.text == first.text, "\(target)")
                for name in ["ETag", "Content-Type", "Realm-Version", "Cache-Control", "Link"] {
                    #expect(again[name] == first[name])
                }
                #expect(again["X-Request-Id"] != first["X-Request-Id"])
            }
            #expect(try server.request("HEAD", target)["ETag"] == first["ETag"])
        }
        // The first answer of each is noted only, the second kept, the others sent again.
        #expect(try metric("known_answers", server) == targets.count)
        #expect(try metric("known_answers_total", server) == targets.count * 3)
    }

    @Test func `what the client takes decides the form, also of a known answer`() throws {
        let server = try TestServer(["links"])
        let target = targets[0]
        for _ in 0..<3 {
            #expect(try server.get(target)["Content-Type"] == "application/json")
            let ejson = try server.get(target, headers: [("Accept", "application/ejson")])
            #expect(ejson["Content-Type"] == "application/ejson")
            #expect(ejson.text.contains("$numberLong"))
            #expect(try server.get(target, headers: [("Accept", "image/png")]).status == 406)
            let whole = "/v1/realms/links/objects/Person"
            let packed = try server.get(whole, headers: [("Accept-Encoding", "gzip")])
            #expect(packed["Content-Encoding"] == "gzip")
            #expect(packed["ETag"]?.hasSuffix("z\"") == true)
            #expect(try server.get(whole)["Content-Encoding"] == nil)
        }
    }

    @Test func `conditions are still looked at`() throws {
        let server = try TestServer(["links"])
        let target = targets[0]
        var tag = ""
        for _ in 0..<3 { tag = try server.get(target)["ETag"] ?? "" }
        #expect(try server.get(target, headers: [("If-None-Match", tag)]).status == 304)
        #expect(try server.get(target, headers: [("Realm-Min-Version", "zzzzzzzz.1")]).status == 412)
        #expect(try server.get(target, headers: [("Realm-Transaction", "t")]).status == 404)
    }

    @Test func `nothing is kept beyond the limit, and nothing at all when it is 0`() throws {
        for (limit, most) in [(0, 0), (256 << 10, 256 << 10)] {
            let server = try TestServer(["links"]) { $0.limits.answerCacheBytes = limit }
            for offset in 0..<39 {
                for _ in 0..<3 { #expect(try server.get("/v1/realms/links/objects/Person?offset=\(offset)").status == 200) }
            }
            #expect(try metric("known_answer_bytes", server) <= most)
            #expect(try (metric("known_answers", server) > 0) == (limit > 0))
        }
    }

    @Test func `errors and streams are not kept`() throws {
        let server = try TestServer(["links"])
        for _ in 0..<3 {
            #expect(try server.get("/v1/realms/links/objects/Person?limt=3").status == 400)
            #expect(try server.get("/v1/realms/links/objects/Person?format=ndjson").status == 200)
        }
        #expect(try metric("known_answers", server) == 0)
    }
}
