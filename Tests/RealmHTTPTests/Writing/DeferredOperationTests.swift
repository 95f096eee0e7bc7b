// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// `Prefer: respond-async` and `If-Match` where something else than a single write is asked for.
@Suite struct DeferredOperationTests {
    @Test func `A34: a transaction that waits for the writer is begun and committed without anybody waiting`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let gate = WriterGate(try server.database())
            try gate.waitUntilHeld()
            let begun = try server.send("POST", "app/transactions", "{}", WriteServer.later)
            #expect(begun.status == 202, "\(begun.text)")
            #expect(begun["Preference-Applied"] == "respond-async")
            #expect(begun.json["state"]?.text == "queued")
            let path = String(try #require(begun["Location"]).dropFirst("/v1/realms/".count))
            #expect(path.hasPrefix("app/writes/"))
            gate.open()
            let fate = try server.fate(path)
            #expect(fate["state"]?.text == "committed" && fate["status"]?.int == 201)
            let id = try #require(fate["body"]?["id"]?.text)
            #expect(fate["body"]?["version"] == fate["version"])
            #expect(fate["body"]?["idleTimeout"]?.text == "30s" && fate["body"]?["expiresAt"] != nil)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":41}"#, [("Realm-Transaction", id)])

            let commit = try server.send("POST", "app/transactions/\(id)/commit", nil, WriteServer.later)
            #expect(commit.status == 202 && commit["Preference-Applied"] == "respond-async", "\(commit.text)")
            let end = try server.fate(String(try #require(commit["Location"]).dropFirst("/v1/realms/".count)))
            #expect(end["state"]?.text == "committed" && end["status"]?.int == 200)
            #expect(end["body"]?["version"] == end["version"])
            #expect(end["version"]?.text == (try server.get("app/schema"))["Realm-Version"])
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 41)
        }
    }

    @Test func `A34: a transaction that was cancelled before it began does not begin`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let database = try server.database()
            let gate = WriterGate(database)
            try gate.waitUntilHeld()
            let path = try server.begin("POST", "app/transactions", "{}")
            #expect(try server.send("DELETE", path).status == 204)
            #expect(try server.state(path) == "cancelled")
            gate.open()
            // The next write comes after it.
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":5}"#)
            #expect(eventually { database.openTransaction == nil })
            #expect(try server.state(path) == "cancelled")
            let id = try #require(try server.done("POST", "app/transactions").json["id"]?.text)
            #expect(try server.send("DELETE", path).status == 204)
            try server.done("DELETE", "app/transactions/\(id)")
        }
    }

    @Test func `A34: what can be refused at once is`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let unknown = try server.send("POST", "app/transactions/none/commit", nil, WriteServer.later)
            #expect(unknown.status == 404 && unknown.code == "not_found", "\(unknown.text)")
            let id = try #require(try server.done("POST", "app/transactions").json["id"]?.text)
            let busy = try server.send("POST", "app/transactions", #"{"wait":"0s"}"#, WriteServer.later)
            #expect(busy.status == 423 && busy.code == "write_lock_busy", "\(busy.text)")
            try server.done("DELETE", "app/transactions/\(id)")
            let ended = try server.send("POST", "app/transactions/\(id)/commit", nil, WriteServer.later)
            #expect(ended.status == 410, "\(ended.text)")
            let body = try server.send("POST", "app/transactions", #"{"wiat":"0s"}"#, WriteServer.later)
            #expect(body.status == 400 && body.code == "invalid_body", "\(body.text)")
        }
    }

    @Test func `A34, E11: a compaction is answered before it is done, a restore is not`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let answer = try server.send("POST", "app/compact", nil, WriteServer.later)
            #expect(answer.status == 202 && answer["Preference-Applied"] == "respond-async", "\(answer.text)")
            let fate = try server.fate(String(try #require(answer["Location"]).dropFirst("/v1/realms/".count)))
            #expect(fate["state"]?.text == "committed")
            #expect(fate["body"]?["before"] != nil && fate["body"]?["after"] != nil)
            let file = try server.get("app/backup").body
            let restored = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms/app/restore",
                headers: [("Content-Type", "application/octet-stream")] + WriteServer.later, body: file)
            #expect(restored.status == 200 && restored["Preference-Applied"] == nil, "\(restored.text)")
        }
    }

    /// All of them used to ignore the condition.
    @Test func `A39: whatever changes a realm, its file or its backups heeds the version that is demanded`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let old = try #require(try server.get("app/schema")["Realm-Version"])
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            let backup = try #require(try server.done("POST", "app/backups").json["id"]?.text)
            let requests = [
                ("POST", "app/compact", nil), ("POST", "app/backups", nil), ("DELETE", "app/backups/\(backup)", nil),
                ("DELETE", "app", nil), ("DELETE", "app?files=true", nil), ("DELETE", "app?dryRun=true", nil),
                ("POST", "app/transactions", nil), ("POST", "app/backup", "{}"),
                ("POST", "app/migrations", #"{"fromVersion":0,"toVersion":1,"steps":[]}"#),
                ("PUT", "app/key", #"{"encryptionKey":"\#(String(repeating: "ab", count: 64))"}"#),
            ]
            for tag in ["\"v.\(old)\"", "\"v.nope.1\""] {
                for (method, path, body) in requests {
                    let answer = try server.send(method, path, body, [("If-Match", tag)])
                    #expect(answer.status == 412 && answer.code == "precondition_failed", "\(method) \(path): \(answer.text)")
                }
                let made = try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms", headers: [WriteServer.json, ("If-Match", tag)],
                    body: Array(#"{"name":"made","schema":{"classes":[]}}"#.utf8))
                #expect(made.status == 412, "\(made.text)")
            }
            #expect(try server.get("app/backups").json["items"]?.elements?.count == 1)
            #expect(try server.get("made").status == 404)

            func newest() throws -> [(String, String)] {
                [("If-Match", "\"v.\(try #require(try server.get("app/schema")["Realm-Version"]))\"")]
            }
            let id = try #require(try server.done("POST", "app/transactions", nil, newest()).json["id"]?.text)
            let stale = try server.send("POST", "app/transactions/\(id)/commit", nil, [("If-Match", "\"v.\(old)\"")])
            #expect(stale.status == 412, "\(stale.text)")
            try server.done("POST", "app/transactions/\(id)/commit", nil, newest())
            try server.done("POST", "app/compact", nil, newest())
            try server.done("POST", "app/backups", nil, newest())
            try server.done("DELETE", "app/backups/\(backup)", nil, newest())
            try server.done("DELETE", "app", nil, newest())
        }
    }
}
