// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Rows about openings that take long, and about what they are to everybody else.
@Suite struct AsyncOpeningRowTests {
    private static let item =
        #"{"schemaVersion":0,"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"name","type":"string"}]}]}"#

    /// Adds a property and writes it three times into every object.
    private static let steps = #"""
        "schemaVersion":5,"migrations":[{"addProperty":{"class":"Item","property":{"name":"extra","type":"string"},"value":"x"}},
        {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"extra":{"$expr":"name + '!'"}}}},
        {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"extra":{"$expr":"name + '?'"}}}},
        {"set":{"class":"Item","where":"TRUEPREDICATE","values":{"extra":{"$expr":"name + '.'"}}}}]
        """#

    /// Makes `big.realm` in the folder of a server, which does not serve it then.
    private func makeBig(_ server: WriteServer, objects: Int, text: String = "n") throws {
        #expect(try server.attach(#"{"name":"big","schema":\#(AsyncOpeningRowTests.item)}"#).status == 201)
        let step = text.utf8.count > 100 ? 1000 : 10_000
        for start in stride(from: 0, to: objects, by: step) {
            let rows = (start..<min(start + step, objects)).map { #"{"id":\#($0),"name":"\#(text)\#($0)"}"# }
            try server.done("POST", "big/objects/Item", "[\(rows.joined(separator: ","))]", [("Prefer", "return=minimal")])
        }
        try server.done("DELETE", "big")
    }

    /// Attaches `big.realm` in the background.
    private func open(_ server: WriteServer, _ members: String) throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: server.port, "POST", "/v1/realms", headers: [WriteServer.json] + WriteServer.later,
            body: Array(#"{"path":"\#(server.folder)/big.realm",\#(members)}"#.utf8))
    }

    @Test func `A10, E25: an opening in the background is answered at once; until it is ready, reads are 503`() throws {
        try withWriteServer(change: { $0.limits.writeSeconds = 60 }) { (server: WriteServer) throws in
            try makeBig(server, objects: 10_000)
            let answer = try open(server, AsyncOpeningRowTests.steps)
            #expect(answer.status == 202 && answer["Location"] == "/v1/realms/big", "\(answer.text)")
            #expect(answer.json["state"]?.text == "opening")
            let early = try server.get("big/objects/Item/1")
            #expect(early.status == 503 && early.code == "realm_unavailable" && early["Retry-After"] != nil, "\(early.text)")
            #expect(try server.send("PATCH", "big/objects/Item/1", "{}").status == 503)
            #expect(try server.get("big").json["state"]?.text == "opening")
            // Only realms that the server was started with make it ready or not.
            #expect(try HTTPClient.request(port: server.port, "GET", "/readyz").status == 200)
            #expect(try eventually { try server.get("big").json["state"]?.text == "ready" })
            #expect(try server.get("big").json["schemaVersion"]?.int == 5)
            #expect(try server.get("big/objects/Item/1").json["extra"]?.text == "n1.")
            try server.done("DELETE", "big")
            // One that fails says why.
            #expect(try open(server, #""schemaVersion":4"#).status == 202)
            #expect(try eventually { try server.get("big").json["state"]?.text == "failed" })
            #expect(try server.get("big").json["problem"]?["code"]?.text == "schema_version_conflict")
            try server.done("DELETE", "big")
        }
    }

    @Test func `E42: opening a large file does not hold up other realms`() throws {
        try withWriteServer(change: { $0.limits.writeSeconds = 600 }) { (server: WriteServer) throws in
            // The file has 24 MB, or 1 GB where there is time for it; what is migrated is bounded by the memory of a write.
            try makeBig(server, objects: TestRun.isLong ? 400_000 : 10_000, text: String(repeating: "x", count: 2400))
            let client = try HTTPClient(port: server.port)
            var asked = 0
            func latencies(while condition: () throws -> Bool) throws -> [Double] {
                var seconds: [Double] = []
                repeat {
                    // Each question is a new one, so that none is answered from memory.
                    let query = "where=age%20%3E%20\(asked)%20OR%20name%20!%3D%20NULL&sort=-age"
                    asked -= 1
                    let start = Instant.now()
                    #expect(try client.request("GET", "/v1/realms/app/objects/Dog?\(query)").status == 200)
                    seconds.append(Instant.now().seconds(since: start))
                    // Writes go on, too.
                    if asked % 50 == 0 { try server.done("PATCH", "app/objects/Dog/1", #"{"age":\#(-asked)}"#) }
                } while try condition()
                return seconds.sorted()
            }
            var quietReads = 200
            let quiet = try latencies {
                quietReads -= 1
                _ = try server.get("app")
                return quietReads > 0
            }
            let steps = TestRun.isLong ? "" : AsyncOpeningRowTests.steps + ","
            #expect(try open(server, steps + #""compactOnOpen":{}"#).status == 202)
            let busy = try latencies { try server.get("big").json["state"]?.text == "opening" }
            #expect(try server.get("big").json["state"]?.text == "ready")
            #expect(busy.count > 20, "\(busy.count) reads")
            // Flat: the usual read is about as fast as before, but for the processor that both need, and none waits for the opening.
            let (before, during) = (quiet[quiet.count / 2], busy[busy.count / 2])
            #expect(during < 5 * before + 0.01, "\(before) s, then \(during) s")
            #expect((busy.last ?? 9) < 2, "\(busy.suffix(5))")
            try server.done("DELETE", "big?files=true")
        }
    }

    @Test func `E38: attaching takes as long after many requests as before, and so does the schema`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("DELETE", "app")
            func time() throws -> Double {
                var times: [Double] = []
                for _ in 0..<9 {
                    let start = Instant.now()
                    #expect(try server.attach(#"{"path":"\#(server.folder)/app.realm"}"#).status == 201)
                    times.append(Instant.now().seconds(since: start))
                    try server.done("DELETE", "app")
                }
                return times.sorted()[0]
            }
            let before = try time()
            #expect(try server.attach(#"{"path":"\#(server.folder)/app.realm"}"#).status == 201)
            let first = try server.get("app/schema")
            for _ in 0..<500 { #expect(try server.get("app/schema").body == first.body) }
            try server.done("DELETE", "app")
            let after = try time()
            #expect(after < 3 * before + 0.02, "\(before) s, \(after) s")
        }
    }

    @Test func `E27: an object is made, read as a value, updated, deleted and counted`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let made = try server.done("POST", "app/objects/Oid", "{}")
            #expect(made.status == 201)
            let location = try #require(made["Location"]).replacingOccurrences(of: "/v1/realms/", with: "")
            let dog = try server.done("POST", "app/objects/Dog", #"{"_id":9,"name":"Fido","age":1}"#)
            #expect(dog["Location"] == "/v1/realms/app/objects/Dog/9")
            let value = try server.get("app/objects/Dog/9").json
            #expect(value["name"]?.text == "Fido" && value["age"]?.int == 1)
            try server.done("PATCH", "app/objects/Dog/9", #"{"age":2}"#)
            // What was read is a copy, and does not change with the object.
            #expect(value["age"]?.int == 1)
            #expect(try server.get("app/objects/Dog/9").json["age"]?.int == 2)
            #expect(try server.count("Dog") == 3)
            #expect(try server.send("DELETE", "app/objects/Dog/9").status == 204)
            #expect(try server.send("DELETE", location).status == 204)
            #expect(try server.get("app/objects/Dog/9").code == "object_not_found")
            #expect(try server.count("Dog") == 2 && server.count("Oid") == 0)
        }
    }
}
