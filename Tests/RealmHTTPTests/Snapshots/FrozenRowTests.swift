// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Rows A15 to A17, A44, B34 and E14 of the checklist: versions that are held.
@Suite struct FrozenRowTests {
    private func pin(_ fixture: ChangeFixture) throws -> String {
        try fixture.server.must("POST", "app/snapshots")["id"]?.text ?? ""
    }

    @Test func `A15: an answer tells whether it is of a version that is held`() throws {
        let fixture = try ChangeFixture()
        let id = try pin(fixture)
        let frozen = try fixture.server.must("GET", "app/objects/Dog?snapshot=\(id)")
        let live = try fixture.server.must("GET", "app/objects/Dog")
        #expect(frozen["snapshot"]?.text == id && live["snapshot"] == nil)
        #expect(frozen["version"] == live["version"] && frozen["items"] == live["items"])
    }

    @Test func `A16, A17: what is held shows the old, plain reads the new; it cannot be written or observed`() throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let id = try pin(fixture)
        for age in 20..<23 {
            try fixture.write(fixture.age(1, age))
            #expect(try server.must("GET", "app/objects/Dog/1?snapshot=\(id)")["age"]?.integer == 1)
            #expect(try server.must("GET", "app/objects/Dog/1")["age"]?.integer == Int64(age))
            #expect(try server.must("GET", "app/snapshots/\(id)")["behind"]?.integer == Int64(age - 19))
        }
        for (method, path, body) in [
            ("PATCH", "objects/Dog/1", #"{"age":1}"#), ("DELETE", "objects/Dog/1", nil), ("POST", "batch", #"{"ops":[]}"#),
            ("GET", "changes", nil), ("GET", "changes?class=Dog", nil),
        ] as [(String, String, String?)] {
            for accept in ["application/json", "text/event-stream"]
            where path.hasPrefix("changes") || accept == "application/json" {
                let separator = path.contains("?") ? "&" : "?"
                let answer = try server.send(method, "app/\(path)\(separator)snapshot=\(id)", body, [("Accept", accept)])
                #expect(answer.status == 400 && answer.code == "conflicting_parameters", "\(method) \(path): \(answer.text)")
            }
        }
        // An object that is gone is still there.
        try fixture.write(fixture.delete("Dog", "1"))
        #expect(try server.send("GET", "app/objects/Dog/1").status == 404)
        #expect(try server.must("GET", "app/objects/Dog/1?snapshot=\(id)")["age"]?.integer == 1)
    }

    @Test func `A44: what was let go of is 410 and later 404, letting go again 404, and the version goes`() throws {
        let fixture = try ChangeFixture { $0.limits.rememberedSeconds = 1 }
        let server = fixture.server
        let id = try pin(fixture)
        try fixture.write(fixture.age(1, 9))
        #expect(try eventually { try server.metric("live_versions") == 2 })
        #expect(try server.send("DELETE", "app/snapshots/\(id)").status == 204)
        // On a machine that stalls, a second may be over by now.
        let over = try server.send("GET", "app/objects/Dog?snapshot=\(id)")
        #expect(over.code == "snapshot_expired" && over.status == 410 || over.status == 404)
        #expect(try server.send("DELETE", "app/snapshots/\(id)").status == 404)
        #expect(try eventually { try server.metric("live_versions") == 1 })
        #expect(try eventually { try server.send("GET", "app/objects/Dog?snapshot=\(id)").code == "not_found" })
    }

    @Test func `B34: a frozen query is not changed by later writes, and the gauge of versions shows it`() throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let query = "app/objects/Dog?where=age%20%3E%203&sort=-age&fields=_id"
        let before = try server.must("GET", query)["items"]
        let id = try pin(fixture)
        #expect(try eventually { try server.metric("live_versions") == 1 })
        for number in 10..<14 {
            try fixture.write(fixture.create(number, age: number), fixture.delete("Dog", String(number - 9)))
            #expect(try server.must("GET", query + "&snapshot=\(id)")["items"] == before)
            #expect(try server.must("GET", query)["items"] != before)
        }
        // However many writes, two versions live.
        #expect(try eventually { try server.metric("live_versions") == 2 })
        // Also from several threads: one after the other here, all at once in the tests of isolation.
        #expect(
            try server.must(
                "POST", "app/query/Dog", "{\"where\":\"age > 3\",\"sort\":[\"-age\"],\"fields\":[\"_id\"],\"snapshot\":\"\(id)\"}"
            )["items"] == before)
    }

    @Test(arguments: [true, false])
    func `E14: the oldest versions are let go of, or writes refused, as it is configured`(_ sheds: Bool) throws {
        let fixture = try ChangeFixture { if sheds { $0.limits.liveVersions = 3 } }
        let server = fixture.server
        if !sheds {
            try server.must("DELETE", "app")
            try server.must(
                "POST", "",
                "{\"name\":\"app\",\"inMemory\":\"app\",\"maxActiveVersions\":3,\"schema\":{\"classes\":\(ChangeFixture.classes)}}"
            )
            try fixture.write(fixture.create(1))
        }
        var ids: [String] = []
        var statuses: [Int] = []
        for age in 0..<5 {
            ids.append(try pin(fixture))
            statuses.append(try server.send("PATCH", "app/objects/Dog/1", "{\"age\":\(age)}").status)
        }
        let alive = try ids.map { try server.send("GET", "app/objects/Dog/1?snapshot=\($0)").status }
        if sheds {
            #expect(statuses == [200, 200, 200, 200, 200] && alive == [410, 410, 410, 200, 200])
            #expect(try eventually { try server.metric("live_versions") == 3 })
        } else {
            // Three versions may be held beside the newest; what is above refuses.
            #expect(statuses == [200, 200, 200, 503, 503] && alive == [200, 200, 200, 200, 200])
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":9}"#).code == "too_many_active_versions")
            for id in ids { try server.must("DELETE", "app/snapshots/\(id)") }
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":9}"#).status == 200)
        }
    }
}
