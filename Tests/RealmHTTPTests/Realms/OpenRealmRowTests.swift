// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Rows about opening and deleting files by requests.
@Suite struct OpenRealmRowTests {
    /// The names and states of all realms.
    private func realms(_ server: WriteServer, _ headers: [(String, String)] = []) throws -> [String] {
        let list = try HTTPClient.request(port: server.port, "GET", "/v1/realms", headers: headers)
        return (list.json["items"]?.elements ?? []).map { "\($0["name"]?.text ?? "?") \($0["state"]?.text ?? "?")" }
    }

    // MARK: - Queues

    @Test func `A6: every stream of the default realm is a queue of its own, which ends with its client`() throws {
        try withWriteServer(change: { $0.defaultRealm = "app" }) { (server: WriteServer) throws in
            let path = "/v1/realms/@default/changes?class=Dog&include=keys"
            var streams = try (0..<2).map { _ in try EventClient(port: server.port, path) }
            for stream in streams {
                #expect(try stream.next("snapshot").json["count"]?.int == 2)
                _ = try stream.next("ready")
            }
            var position = try #require(try server.get("app/changes?class=Dog&include=keys&since=now").json["next"]?.text)
            for key in 10..<15 {
                let version = try server.done("POST", "app/objects/Dog", #"{"_id":\#(key),"age":1}"#)["Realm-Version"]
                // Each gets the commits in their order, also who waits for single answers.
                for stream in streams {
                    let event = try stream.next("changes")
                    #expect(event.id == version && event.json["insertions"]?[0]?["key"]?.text == "\(key)", "\(event.data)")
                }
                let poll = try server.get("@default/changes?class=Dog&include=keys&since=\(position)").json
                #expect(poll["changes"]?.elements?.count == 1 && poll["next"]?.text == version, "\(poll)")
                position = version ?? ""
            }
            #expect(try ServerMetrics(port: server.port)["streams"] == 2)
            // One that goes does not take the other along.
            streams.removeFirst()
            #expect(try eventually { try ServerMetrics(port: server.port)["streams"] == 1 })
            try server.done("DELETE", "app/objects/Dog/10")
            #expect(try streams[0].next("changes").json["deletions"]?[0]?["key"]?.text == "10")
            streams = []
            #expect(try eventually { try ServerMetrics(port: server.port)["streams"] == 0 })
        }
    }

    /// What is wrong, the member that makes it so, and its code.
    private static let failures = [
        ("FOLDER/none", "", "file_not_found"), ("FOLDER/junk", "", "not_a_realm"),
        ("FOLDER/secret", "", "encryption_key_required"),
        ("FOLDER/secret", #","encryptionKey":"\#(String(repeating: "ab", count: 64))""#, "encryption_key_wrong"),
        ("FOLDER/plain", #","schemaVersion":77"#, "schema_version_conflict"), ("FOLDER/app.realm", "", "already_attached"),
    ]

    @Test(arguments: failures)
    func `A8: an opening that nobody waits for fails with the code of one that is waited for, and is gone from the list`(
        _ path: String, _ member: String, _ code: String
    ) throws {
        try withWriteServer(change: { $0.forgetsFailedAfterSeconds = 0.3 }) { (server: WriteServer) throws in
            try Data(repeating: 0x78, count: 5000).write(to: URL(fileURLWithPath: server.folder + "/junk"))
            try FileManager.default.copyItem(atPath: try Fixtures.path("encrypted"), toPath: server.folder + "/secret")
            try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: server.folder + "/plain")
            let before = try realms(server)
            let body = #"{"name":"bad","path":"\#(path.replacingOccurrences(of: "FOLDER", with: server.folder))"\#(member)}"#
            let waited = try server.attach(body)
            #expect(waited.status >= 400 && waited.code == code, "\(waited.text)")
            #expect(try realms(server) == before)
            let answer = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms", headers: [WriteServer.json] + WriteServer.later, body: Array(body.utf8))
            if answer.status == 202 {
                // Between its failure and its end it tells why, which a slow machine may miss.
                var told: String?
                #expect(
                    try eventually {
                        let document = try server.get("bad").json
                        told = document["problem"]?["code"]?.text ?? told
                        return document["code"]?.text == "realm_not_found"
                    })
                #expect(told == nil || told == code)
            } else {
                // What is known without a look into the file is told at once.
                #expect(answer.status == waited.status && answer.code == code, "\(answer.text)")
            }
            #expect(try realms(server) == before)
        }
    }

    // MARK: - Paths

    @Test func `A9: a file is opened by its path, and others see its name only`() throws {
        try withWriteServer(change: { $0.isInsecure = true }) { (server: WriteServer) throws in
            let path = server.folder + "/far away.realm"
            try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: path)
            let made = try server.attach(#"{"name":"far","path":"\#(path)"}"#)
            #expect(made.status == 201 && made["Location"] == "/v1/realms/far" && made.json["path"]?.text == path, "\(made.text)")
            #expect(try server.get("far").json["path"]?.text == path)
            let seen = try server.get("far", [("X-Forwarded-For", "192.0.2.7")])
            #expect(seen.status == 200 && seen.json["name"]?.text == "far" && seen.json["state"]?.text == "ready")
            #expect(seen.json["path"] == nil && !seen.text.contains("far away") && !seen.text.contains(server.folder))
            #expect(try server.get("far/objects/Dog?limit=1", [("X-Forwarded-For", "192.0.2.7")]).status == 200)
            // Without a name it has that of the file.
            try server.done("DELETE", "far")
            try FileManager.default.moveItem(atPath: path, toPath: server.folder + "/far.v2.realm")
            #expect(try server.attach(#"{"path":"\#(server.folder)/far.v2.realm"}"#)["Location"] == "/v1/realms/far.v2")
            #expect(try realms(server) == ["app ready", "far.v2 ready"])
        }
    }

    // MARK: - Files

    @Test func `A20: whether a file exists is told for realms and by dry runs`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func dry(_ body: String) throws -> HTTPClient.Answer { try server.attach(body, "?dryRun=true") }
            #expect(try server.get("app").status == 200)
            let absent = try server.get("new")
            #expect(absent.status == 404 && absent.code == "realm_not_found")
            let before = TreeDigest(server.folder)
            let new = try dry(#"{"name":"new"}"#)
            #expect(new.status == 200 && new.json["body"]?["exists"]?.bool == false, "\(new.text)")
            let none = try dry(#"{"path":"\#(server.folder)/none.realm"}"#)
            #expect(none.status == 404 && none.code == "file_not_found")
            #expect(TreeDigest(server.folder).differences(from: before).isEmpty)
            #expect(try realms(server) == ["app ready"])
            try server.done("DELETE", "app")
            let there = try dry(#"{"path":"\#(server.folder)/app.realm"}"#)
            #expect(there.status == 200 && there.json["body"]?["exists"]?.bool == true, "\(there.text)")
            #expect(try realms(server) == [] && server.get("app").status == 404)
        }
    }

    @Test(.enabled(if: ServerProcess.executable != nil, "the executable is not built"))
    func `A21: a file that another process has open is not deleted; afterwards all goes but the lock file`() throws {
        // This server lists the file of its folder and has not opened it.
        let server = try WriteServer(opens: false)
        let path = server.folder + "/app.realm"
        let other = try ServerProcess([path])
        func dogs() throws -> Int { try HTTPClient.request(port: other.port, "GET", "/v1/realms/app/objects/Dog").status }
        #expect(try dogs() == 200)
        let bytes = try server.bytes()
        for query in ["app?files=true&dryRun=true", "app?files=true"] {
            let refused = try server.send("DELETE", query)
            #expect(refused.status == 409 && refused.code == "file_in_use", "\(refused.text)")
        }
        #expect(try server.bytes() == bytes && dogs() == 200)
        #expect(other.stop() == 0)
        // What an app leaves beside its file: a pipe, and a folder.
        try #require(unsafe mkfifo(path + ".note", 0o600) == 0)
        try FileManager.default.createDirectory(atPath: path + ".management", withIntermediateDirectories: true)
        #expect(try eventually { try server.get("app/objects/Dog").status == 200 })
        #expect(try server.send("DELETE", "app?files=true").status == 204)
        let left = try FileManager.default.contentsOfDirectory(atPath: server.folder).filter { $0.hasPrefix("app") }
        #expect(left == ["app.realm.lock"])
        let absent = try server.send("DELETE", "app?files=true")
        #expect(absent.status == 404 && absent.code == "realm_not_found")
        try server.finish()
    }
}
