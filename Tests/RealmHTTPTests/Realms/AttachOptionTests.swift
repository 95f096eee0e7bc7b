// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// The options that realms are attached with. Features A53, A55, E8, E10, E11, E13, E15–E18, E36.
@Suite struct AttachOptionTests {
    private func withServer(_ body: (WriteServer) throws -> Void) throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.send("DELETE", "app").status == 204)
            try body(server)
        }
    }

    /// Attaches `app.realm` with more members than its path.
    private func attach(_ server: WriteServer, _ members: String, _ query: String = "") throws -> HTTPClient.Answer {
        let body = #"{"path":"\#(server.folder)/app.realm"\#(members.isEmpty ? "" : "," + members)}"#
        return try HTTPClient.request(
            port: server.port, "POST", "/v1/realms" + query, headers: [WriteServer.json], body: Array(body.utf8))
    }

    private func url(_ server: WriteServer, _ name: String = "app.realm") -> URL {
        URL(fileURLWithPath: server.folder + "/" + name)
    }

    /// Makes `app.realm` a file of format 23, which differs in nothing that it has.
    private func age(_ server: WriteServer) throws -> Data {
        var bytes = try server.bytes()
        for slot in 20...21 where bytes[slot] != 0 { bytes[slot] = 23 }
        try bytes.write(to: url(server))
        return bytes
    }

    // MARK: - Older formats

    @Test func `E36: a file of an older format is only read, unless more is asked for`() throws {
        try withServer { (server: WriteServer) throws in
            let original = try age(server)
            let read = try attach(server, "")
            #expect(read.status == 201, "\(read.text)")
            #expect(read.json["mode"]?.text == "ro")
            #expect(read.json["fileFormat"]?.int == 23)
            #expect(try server.show("Dog/1").contains("Rex"))
            #expect(try server.send("POST", "app/objects/Note", #"{"text":"x"}"#).code == "read_only")
            #expect(try server.send("DELETE", "app").status == 204)
            let refused = try attach(server, #""mode":"rw""#)
            #expect(refused.status == 422)
            #expect(refused.code == "file_format_unsupported")
            #expect(refused.json["found"]?.int == 23)
            #expect(refused.json["supported"]?.ints == [24])
            #expect(try server.bytes() == original)
        }
    }

    @Test func `E36: a private copy of an older file is upgraded, and the original is not touched`() throws {
        try withServer { (server: WriteServer) throws in
            let original = try age(server)
            let answer = try attach(server, #""mode":"copy""#)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.json["mode"]?.text == "copy")
            #expect(answer.json["fileFormat"]?.int == 23 && answer.json["conversion"]?["fromFormat"]?.int == 23, "\(answer.text)")
            #expect(try server.send("POST", "app/objects/Note", #"{"text":"x"}"#).status == 201)
            #expect(try server.get("app/objects/Note?count=exact").json["count"]?.int == 2)
            #expect(try server.bytes() == original)
        }
    }

    @Test func `E36: an upgrade in place keeps the original beside the file`() throws {
        try withServer { (server: WriteServer) throws in
            let original = try age(server)
            let answer = try attach(server, #""upgrade":"in-place""#)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.json["mode"]?.text == "rw")
            #expect(answer.json["fileFormat"]?.int == 24)
            #expect(try Data(contentsOf: url(server, "app.realm.v23.backup")) == original)
            #expect(try server.show("Dog/1").contains("Rex"))
            #expect(try server.send("POST", "app/objects/Note", #"{"text":"x"}"#).status == 201)
            #expect(try server.send("DELETE", "app").status == 204)
            _ = try age(server)
            #expect(try attach(server, #""upgrade":"in-place","keepMigrationBackups":2"#).status == 201)
            #expect(try Data(contentsOf: url(server, "app.realm.v23.backup")) == original)
            #expect(FileManager.default.fileExists(atPath: url(server, "app.realm.v23.backup-2").path))
            #expect(try server.send("DELETE", "app").status == 204)
            let present = try server.bytes()
            #expect(try attach(server, #""upgrade":"in-place""#).status == 201)
            #expect(try server.bytes() == present)
        }
    }

    private static let refusals = [
        (#""upgrade":"yes""#, 400, "invalid_body", "/upgrade"),
        (#""upgrade":"in-place","mode":"ro""#, 400, "conflicting_parameters", "/upgrade"),
        (#""upgrade":"in-place","mode":"copy""#, 400, "conflicting_parameters", "/upgrade"),
        (#""compactOnOpen":true"#, 400, "invalid_body", "/compactOnOpen"),
        (#""compactOnOpen":{"maxUsedRatio":1.5}"#, 400, "invalid_body", "/compactOnOpen/maxUsedRatio"),
        (#""compactOnOpen":{"minTotalBytes":-1}"#, 400, "invalid_body", "/compactOnOpen/minTotalBytes"),
        (#""compactOnOpen":{"size":1}"#, 400, "invalid_body", "/compactOnOpen/size"),
        (#""compactOnOpen":{},"mode":"ro""#, 400, "conflicting_parameters", "/compactOnOpen"),
        (#""onMigrationNeeded":"ignore""#, 400, "invalid_body", "/onMigrationNeeded"),
        (#""onMigrationNeeded":"delete""#, 400, "conflicting_parameters", "/onMigrationNeeded"),
        (
            #""onMigrationNeeded":"delete","schema":{"classes":[]},"schemaVersion":1,"migrations":[]"#, 400,
            "conflicting_parameters", "/onMigrationNeeded"
        ),
        (#""migrations":[]"#, 400, "invalid_body", "/migrations"),
        (#""syncConfiguration":{}"#, 400, "invalid_body", "/syncConfiguration"),
        (#""keepMigrationBackups":-1"#, 400, "invalid_body", "/keepMigrationBackups"),
        (#""allowDataLoss":1"#, 400, "invalid_body", "/allowDataLoss"),
        (#""seed":"/nowhere/s.realm","inMemory":"m""#, 400, "conflicting_parameters", "/inMemory"),
        (#""schemaVersion":5"#, 409, "schema_version_conflict", "/schemaVersion"),
        (#""schemaVersion":0,"mode":"ro""#, 201, "", ""),
        (#""schemaVersion":5,"mode":"ro""#, 409, "schema_version_conflict", "/schemaVersion"),
    ]

    @Test func `what attaching cannot do is told`() throws {
        try withServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            for (members, status, code, pointer) in AttachOptionTests.refusals {
                let answer = try attach(server, members)
                #expect(answer.status == status, "\(members): \(answer.text)")
                #expect(try server.bytes() == bytes)
                guard status != 201 else {
                    #expect(try server.send("DELETE", "app").status == 204)
                    continue
                }
                #expect(answer.code == code, "\(members)")
                if !pointer.isEmpty { #expect(answer.json["pointer"]?.text == pointer, "\(members)") }
                #expect(try server.get("app").status == 404)
            }
        }
    }

    // MARK: - Compaction

    @Test func `E11: a file that is mostly free space is compacted when that is wanted`() throws {
        try withServer { (server: WriteServer) throws in
            #expect(try attach(server, "").status == 201)
            let text = String(repeating: "x", count: 200_000)
            for _ in 0..<4 { #expect(try server.send("POST", "app/objects/Note", #"{"text":"\#(text)"}"#).status == 201) }
            #expect(try server.send("DELETE", "app/objects/Note?where=text%20BEGINSWITH%20%22xx%22").status == 200)
            let before = try server.get("app").json
            let data = try server.get("app/export?format=json").json
            #expect((before["fileBytes"]?.int ?? 0) > 10 * (before["usedBytes"]?.int ?? .max), "\(before)")
            #expect(try server.send("DELETE", "app").status == 204)
            let bytes = try server.bytes()
            let size = bytes.count
            let untouched = try attach(server, #""compactOnOpen":{"minTotalBytes":100000000,"maxUsedRatio":0.5}"#)
            #expect(try untouched.json["fileBytes"]?.int == size && server.bytes() == bytes)
            #expect(try server.send("DELETE", "app").status == 204)
            let compacted = try attach(server, #""compactOnOpen":{"minTotalBytes":100000,"maxUsedRatio":0.5}"#)
            #expect(compacted.status == 201, "\(compacted.text)")
            #expect(try #require(compacted.json["fileBytes"]?.int) < size / 4)
            #expect(try server.show("Dog/1").contains("Rex"))
            #expect(try server.get("app/export?format=json").json["classes"] == data["classes"])
            let version = { (json: ParsedJSON) in json["version"]?.text?.split(separator: ".").last }
            #expect(version(compacted.json) == version(before))
        }
    }

    // MARK: - Schemas

    private static let other = """
        "schema":{"schemaVersion":1,"classes":[{"name":"Dog","primaryKey":"id","properties":[{"name":"id","type":"string"}]},
        {"name":"Owner","properties":[{"name":"dogs","type":"object","collection":"list","objectType":"Dog"}]}]}
        """

    @Test func `E10: a realm that needs a migration starts over only when told to, and keeps a copy`() throws {
        try withServer { (server: WriteServer) throws in
            let original = try server.bytes()
            #expect(try attach(server, AttachOptionTests.other).code == "schema_version_conflict")
            #expect(
                try attach(server, AttachOptionTests.other + #","onMigrationNeeded":"fail""#).code == "schema_version_conflict")
            #expect(try server.bytes() == original)
            let answer = try attach(server, AttachOptionTests.other + #","onMigrationNeeded":"delete""#)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.json["classes"]?.int == 2)
            #expect(answer.json["empty"]?.bool == true)
            #expect(answer.json["schemaVersion"]?.int == 1)
            let copies = try FileManager.default.contentsOfDirectory(atPath: server.folder).filter {
                $0.hasPrefix("app.realm.before-")
            }
            #expect(copies.count == 1)
            #expect(try Data(contentsOf: url(server, copies[0])) == original)
            #expect(try server.send("POST", "app/objects/Dog", #"{"id":"x"}"#).status == 201)
            #expect(try server.send("DELETE", "app").status == 204)
            // What fits stays.
            #expect(
                try attach(server, AttachOptionTests.other + #","onMigrationNeeded":"delete""#).json["empty"]?.bool == false)
        }
    }

    @Test func `steps on attaching lose data only when that is allowed`() throws {
        try withServer { (server: WriteServer) throws in
            let original = try server.bytes()
            let steps = #""schemaVersion":1,"migrations":[{"removeProperty":{"class":"Dog","name":"name"}}]"#
            let refused = try attach(server, steps)
            #expect(refused.status == 409)
            #expect(refused.code == "would_lose_data")
            #expect(refused.json["pointer"]?.text?.hasPrefix("/migrations/0/removeProperty") == true, "\(refused.text)")
            #expect(try server.get("app").status == 404)
            let allowed = try attach(server, steps + #","allowDataLoss":true"#)
            #expect(allowed.status == 201, "\(allowed.text)")
            #expect(allowed.json["schemaVersion"]?.int == 1)
            #expect(try !server.show("Dog/1").contains("Rex"))
            #expect(try server.send("DELETE", "app").status == 204)
            #expect(try attach(server, #""schemaVersion":0"#).code == "schema_version_conflict")
            let again = try attach(server, steps)
            #expect(again.status == 201, "\(again.text)")
            let copies = try FileManager.default.contentsOfDirectory(atPath: server.folder).filter {
                $0.hasPrefix("app.realm.before-")
            }
            #expect(try copies.contains { try Data(contentsOf: url(server, $0)) == original })
        }
    }

    // MARK: - Seeds

    @Test func `E15: a seed is copied when there is no file yet, and else ignored`() throws {
        try withServer { (server: WriteServer) throws in
            let seed = #""seed":"\#(server.folder)/app.realm""#
            func post(_ body: String, _ query: String = "") throws -> HTTPClient.Answer {
                try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms" + query, headers: [WriteServer.json], body: Array(body.utf8))
            }
            let dry = try post(#"{"name":"grown",\#(seed)}"#, "?dryRun=true")
            #expect(dry.json["body"]?["exists"]?.bool == false, "\(dry.text)")
            #expect(try post(#"{"name":"grown",\#(seed)}"#).status == 201)
            #expect(try server.get("grown/objects/Dog/1").status == 200)
            #expect(try server.send("DELETE", "grown/objects/Dog/1").status == 204)
            #expect(try server.send("DELETE", "grown").status == 204)
            let again = try post(#"{"name":"grown",\#(seed)}"#)
            #expect(again.status == 201, "\(again.text)")
            #expect(try server.get("grown/objects/Dog/1").status == 404)
            let missing = try post(#"{"name":"none","seed":"\#(server.folder)/nothing.realm"}"#)
            #expect(missing.status == 404)
            #expect(missing.code == "file_not_found")
            #expect(missing.json["pointer"]?.text == "/seed")
            #expect(try server.get("none").status == 404)
            // A seed that is being served has its newest version copied.
            let third = try post(#"{"path":"\#(server.folder)/third.realm","seed":"\#(server.folder)/grown.realm"}"#)
            #expect(third.status == 201, "\(third.text)")
            #expect(try server.get("third/objects/Dog/1").status == 404)
            #expect(try server.get("third/objects/Dog/2").status == 200)
        }
    }

    @Test func `the realm's document has the options it was attached with, but not the key`() throws {
        try withServer { (server: WriteServer) throws in
            let key = String(repeating: "0a", count: 64)
            let body =
                #"{"name":"secret","encryptionKey":"\#(key)","schema":{"classes":[]},"maxActiveVersions":50,"compactOnOpen":{"maxUsedRatio":0.5}}"#
            let answer = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(body.utf8))
            #expect(answer.status == 201, "\(answer.text)")
            #expect(!answer.text.contains(key))
            let options = try server.get("secret").json["options"]
            #expect(options?["maxActiveVersions"]?.int == 50)
            #expect(options?["compactOnOpen"]?["maxUsedRatio"]?.double == 0.5)
            #expect(options?["encryptionKey"] == nil)
            #expect(try server.send("DELETE", "secret?files=true").status == 204)
        }
    }
}
