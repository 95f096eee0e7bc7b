// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// What the answer to the first request with an `Idempotency-Key` belongs to.
@Suite struct RepetitionTests {
    private static let schema =
        #"{"schemaVersion":1,"classes":[{"name":"A","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"s","type":"string","optional":true}]}]}"#

    /// Creates a realm in a file of the data folder.
    private func create(_ server: KeyServer, _ admin: APIKeyText) throws {
        let answer = try server.request("POST", "/v1/realms", admin, body: #"{"name":"x","schema":\#(Self.schema)}"#)
        guard answer.status == 201 else { throw HTTPClient.Failure(description: answer.text) }
    }

    private func send(_ server: KeyServer, _ admin: APIKeyText) throws -> HTTPClient.Answer {
        try server.request("POST", "/v1/realms/x/objects/A", admin, [("Idempotency-Key", "k")], body: #"{"id":1,"s":"first"}"#)
    }

    @Test func `a key is free again in a new realm of the same name`() throws {
        let server = try KeyServer()
        let admin = try server.add("admin")
        try create(server, admin)
        #expect(try send(server, admin).status == 201)
        #expect(try send(server, admin)["Idempotency-Replayed"] == "true")
        #expect(try server.request("DELETE", "/v1/realms/x?files=true", admin).status == 204)
        try create(server, admin)
        let again = try send(server, admin)
        #expect(again.status == 201 && again["Idempotency-Replayed"] == nil, "\(again.text)")
        #expect(try server.request("GET", "/v1/realms/x/objects/A/1", admin).status == 200)
        #expect(try send(server, admin)["Idempotency-Replayed"] == "true")
    }

    @Test func `a key is free again after a restore, which is itself repeated with its answer`() throws {
        let server = try KeyServer()
        let admin = try server.add("admin")
        try create(server, admin)
        let backup = try #require(try server.request("POST", "/v1/realms/x/backups", admin).json["id"]?.text)
        #expect(try send(server, admin).status == 201)
        let restore = {
            try server.request(
                "POST", "/v1/realms/x/restore", admin, [("Idempotency-Key", "r")], body: #"{"backup":"\#(backup)"}"#)
        }
        let first = try restore()
        #expect(first.status == 200 && first["Idempotency-Replayed"] == nil, "\(first.text)")
        #expect(try server.request("GET", "/v1/realms/x/objects/A/1", admin).status == 404)
        let again = try send(server, admin)
        #expect(again.status == 201 && again["Idempotency-Replayed"] == nil, "\(again.text)")
        let second = try restore()
        #expect(second.status == 200 && second["Idempotency-Replayed"] == "true", "\(second.text)")
        #expect(try server.request("GET", "/v1/realms/x/objects/A/1", admin).status == 200)
    }

    @Test func `a key that was used in the default realm is another request when that is another realm`() throws {
        let roles = { (name: String) in
            "default: \(name)\nroles:\n  v: {realms: {\(name): {classes: {A: [read, create, update]}}}}\n"
        }
        let desk = try RightsDesk(roles("app"), clerk: ["v"])
        let classes = RightsDesk.classes
        let other = #"{"name":"other","inMemory":"other","schema":{"schemaVersion":1,"classes":[\#(classes)]}}"#
        _ = try desk.request("POST", "/v1/realms", by: desk.admin, body: other).document("other")
        _ = try desk.ask("POST", "/objects/A", by: desk.admin, body: #"{"id":1,"owner":"ann","secret":"hunter2"}"#).document("A")
        let merge = [("Content-Type", "application/merge-patch+json"), ("Idempotency-Key", "k")]
        let repeated = {
            try desk.request("PATCH", "/v1/realms/@default/objects/A/1", by: desk.clerk, merge, body: #"{"n":1}"#)
        }
        let first = try repeated()
        #expect(first.status == 200 && first.text.contains("hunter2"), "\(first.text)")
        try desk.reload(roles("other"))
        let second = try repeated()
        #expect(second.status == 422 && second.code == "idempotency_key_reused", "\(second.text)")
        #expect(!second.text.contains("hunter2"))
    }

    /// Who followed the advice of a refusal got the same refusal again.
    @Test func `a key that comes with another handling or condition is another request`() throws {
        let server = try WriteServer()
        func send(_ fields: [(String, String)]) throws -> HTTPClient.Answer {
            try server.send("POST", "app/objects/Dog", #"{"_id":1,"nothing":1}"#, fields + [("Idempotency-Key", "k")])
        }
        #expect(try send([]).code == "unknown_property")
        #expect(try send([])["Idempotency-Replayed"] == "true")
        for fields in [("Prefer", "handling=lenient"), ("If-Match", "\"x.1\""), ("If-None-Match", "*")] {
            let answer = try send([fields])
            #expect(answer.status == 422 && answer.code == "idempotency_key_reused", "\(fields): \(answer.text)")
        }
        #expect(try send([("Prefer", "return=minimal")])["Idempotency-Replayed"] == "true")
        try server.finish()
    }

    @Test func `a write with a long answer is not repeated either`() throws {
        try withWriteServer { server in
            let half = String(repeating: "x", count: 5_000_000)
            try server.done("PUT", "app/objects/Value/1/text", "\"\(half)\"")
            try server.done("PUT", "app/objects/Value/1/mixed", "\"\(half)\"")
            let send = { try server.send("PATCH", "app/objects/Value/1", #"{"int":1}"#, [("Idempotency-Key", "k")]) }
            let first = try send()
            #expect(first.status == 200 && first.body.count > 10_000_000)
            try server.done("PATCH", "app/objects/Value/1", #"{"int":2}"#, [("Prefer", "return=minimal")])
            let second = try send()
            #expect(second.status == 204 && second["Idempotency-Replayed"] == "true", "\(second.status)")
            #expect(second["Realm-Version"] == first["Realm-Version"])
            #expect(try server.get("app/objects/Value/1/int").json["value"]?.int == 2)
        }
    }

    @Test func `long answers of one client leave those of others as they are`() throws {
        let server = try KeyServer()
        let (mine, yours) = (try server.add("a"), try server.add("b"))
        try create(server, mine)
        #expect(try send(server, mine).status == 201)
        let long = { (id: Int) in
            let text = String(repeating: "x", count: 7_500_000)
            return try server.request(
                "POST", "/v1/realms/x/objects/A?dryRun=true", yours, [("Idempotency-Key", "k\(id)")],
                body: #"{"id":\#(id),"s":"\#(text)"}"#)
        }
        for id in 2..<13 { #expect(try long(id).status == 200) }
        let again = try send(server, mine)
        #expect(again.status == 201 && again["Idempotency-Replayed"] == "true" && again.text.contains("first"), "\(again.text)")
        // The documents of the other are gone, and its writes are known.
        let oldest = try long(2)
        #expect(oldest.status == 204 && oldest["Idempotency-Replayed"] == "true", "\(oldest.status)")
    }
}
