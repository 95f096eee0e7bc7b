// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Putting another file in the place of a realm's file while it is served.
@Suite struct RestoreTests {
    private static let octets = [("Content-Type", "application/octet-stream")]
    private static let key = String(repeating: "ab", count: 64)

    private func restore(_ server: WriteServer, _ file: [UInt8], _ realm: String = "app", _ query: String = "") throws
        -> HTTPClient.Answer
    {
        try HTTPClient.request(
            port: server.port, "POST", "/v1/realms/\(realm)/restore\(query)", headers: RestoreTests.octets, body: file)
    }

    private func age(_ server: WriteServer) throws -> Int? {
        try server.get("app/objects/Dog/1?meta=none&fields=age").json["age"]?.int
    }

    private func epoch(_ server: WriteServer) throws -> Substring? {
        try server.get("app/schema")["Realm-Version"]?.split(separator: ".").first
    }

    /// The names in the folder that a refused or finished restore must not leave more of.
    private func names(_ server: WriteServer) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: server.folder).filter { $0 != ".realm-rest" }.sorted()
    }

    @Test func `A18: a file is restored under a new epoch, and what was there is a backup that can be restored too`() throws {
        try withWriteServer { server in
            let old = try server.get("app/backup").body
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            let before = try epoch(server)
            let answer = try restore(server, old)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["name"]?.text == "app" && answer.json["state"]?.text == "ready")
            let id = try #require(answer.json["backup"]?.text)
            #expect(try age(server) == 3)
            #expect(try epoch(server) != before)
            #expect(answer["Realm-Version"] == (try server.get("app/schema"))["Realm-Version"])
            #expect(try server.get("app/backups/\(id)").json["kind"]?.text == "replaced")
            #expect(try RealmEngineReader.age(server.folder + "/" + id) == 4)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":8}"#)
            let again = try server.send("POST", "app/restore", #"{"backup":"\#(id)"}"#)
            #expect(again.status == 200, "\(again.text)")
            #expect(try age(server) == 4)
            // The newest one of its kind is kept.
            let kept = try #require(again.json["backup"]?.text)
            #expect(try RealmEngineReader.age(server.folder + "/" + kept) == 8)
            #expect(try names(server) == ["app.realm", "app.realm.lock", kept])
        }
    }

    @Test func `A18: a restore ends transactions, leases and streams of the file that was there`() throws {
        try withWriteServer { server in
            let old = try server.get("app/backup").body
            let version = try #require(try server.get("app/schema")["Realm-Version"])
            let lease = try #require(try server.done("POST", "app/snapshots", "{}").json["id"]?.text)
            let transaction = try #require(try server.done("POST", "app/transactions", "{}").json["id"]?.text)
            let inside = [("Realm-Transaction", transaction)]
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":9}"#, inside)
            let stream = try EventClient(port: server.port, "/v1/realms/app/changes?class=Dog")
            while let event = try stream.next(), event.name != "ready" {}
            #expect(try restore(server, old).status == 200)
            var last: EventClient.Event?
            while let event = try stream.next() { last = event }
            #expect(last?.json["code"]?.text == "realm_unavailable" && last?.json["retryable"] == .bool(true))
            let ended = try server.send("PATCH", "app/objects/Dog/1", #"{"age":10}"#, inside)
            #expect(ended.status == 410 && ended.code == "transaction_expired", "\(ended.text)")
            #expect(try server.get("app/objects/Dog?snapshot=\(lease)").status == 410)
            #expect(try age(server) == 3)
            let resumed = try EventClient(port: server.port, "/v1/realms/app/changes?class=Dog&since=\(version)")
            var reset: EventClient.Event?
            while reset == nil, let event = try resumed.next() { if event.name == "reset" { reset = event } }
            #expect(reset?.json["reason"]?.text == "epoch")
        }
    }

    /// Each of them used to be found when the file was opened, after the old one was gone.
    @Test func `A18: what is no sound file of this realm is refused, and the realm goes on as it was`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            let sealed = try server.send("POST", "app/backup", #"{"encryptionKey":"\#(RestoreTests.key)"}"#).body
            let (before, bytes, present) = (try epoch(server), try server.bytes(), try names(server))
            var damaged = file
            for position in stride(from: 24, to: damaged.count, by: 8) { damaged[position] ^= 0x55 }
            let rows: [([UInt8], Int, Set<String>)] = [
                ([], 422, ["not_a_realm"]), (Array("mine".utf8), 422, ["not_a_realm"]),
                (damaged, 422, ["file_corrupt", "not_a_realm"]), (Array(file.prefix(file.count / 2)), 422, ["file_corrupt"]),
                (sealed, 422, ["encryption_key_required"]),
            ]
            for (file, status, codes) in rows {
                for query in ["", "?dryRun=true"] {
                    let answer = try restore(server, file, "app", query)
                    #expect(answer.status == status && codes.contains(answer.code ?? ""), "\(answer.text)")
                }
            }
            for (body, status, code) in [
                (#"{"backup":"app.realm.backup-9"}"#, 404, "not_found"), (#"{"backup":7}"#, 400, "invalid_body"),
                ("{}", 400, "invalid_body"), (#"{"bakcup":"x"}"#, 400, "invalid_body"), ("{", 400, "invalid_json"),
            ] {
                let answer = try server.send("POST", "app/restore", body)
                #expect(answer.status == status && answer.code == code, "\(answer.text)")
            }
            #expect(try server.send("POST", "app/restore").status == 400)
            #expect(try epoch(server) == before)
            #expect(try server.bytes() == bytes)
            #expect(try names(server) == present)
        }
    }

    @Test func `A18: a dry run of a restore verifies the file and changes nothing`() throws {
        try withWriteServer { server in
            let old = try server.get("app/backup").body
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            let (before, present) = (try epoch(server), try names(server))
            let answer = try restore(server, old, "app", "?dryRun=true")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["committed"] == .bool(false) && answer.json["status"]?.int == 200)
            #expect(answer.json["body"]?["name"]?.text == "app")
            #expect(try age(server) == 4)
            #expect(try epoch(server) == before)
            #expect(try names(server) == present)
        }
    }

    @Test func `A18: realms without a file of their own, or that are only read, are not restored`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            let path = server.folder + "/other.realm"
            try Data(file).write(to: URL(fileURLWithPath: path))
            #expect(try server.attach(#"{"name":"mem","inMemory":"m"}"#).status == 201)
            #expect(try restore(server, file, "mem").code == "not_owned")
            for (mode, code) in [("ro", "read_only"), ("copy", "not_owned")] {
                #expect(try server.attach(#"{"name":"other","path":"\#(path)","mode":"\#(mode)"}"#).status == 201)
                let answer = try restore(server, file, "other")
                #expect(answer.code == code, "\(answer.text)")
                try server.done("DELETE", "other")
            }
            #expect(try restore(server, file, "none").code == "realm_not_found")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(file))
        }
    }

    @Test func `A18: an encrypted realm takes files under its own key only`() throws {
        try withWriteServer { server in
            let plain = try server.get("app/backup").body
            let body =
                #"{"name":"safe","encryptionKey":"\#(RestoreTests.key)","schema":{"classes":[{"name":"Dog","properties":[{"name":"age","type":"int"}]}]}}"#
            #expect(try server.attach(body).status == 201)
            try server.done("POST", "safe/objects/Dog", #"{"age":7}"#)
            let own = try server.get("safe/backup").body
            let key = String(repeating: "cd", count: 64)
            let other = try server.send("POST", "safe/backup", #"{"encryptionKey":"\#(key)"}"#).body
            try server.done("POST", "safe/objects/Dog", #"{"age":8}"#)
            for file in [plain, other] {
                let answer = try restore(server, file, "safe")
                #expect(answer.status == 422 && answer.code == "encryption_key_wrong", "\(answer.text)")
            }
            #expect(try server.get("safe/aggregate/Dog?ops=count").text.contains("2"))
            let answer = try restore(server, own, "safe")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.get("safe/aggregate/Dog?ops=count").text.contains("1"))
            // The end of the test opens what is left without a key.
            try server.done("DELETE", "safe?files=true")
        }
    }

    @Test func `A18: a realm whose file was damaged is served again after a restore, and the damaged file is kept`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            let path = server.folder + "/app.realm"
            try FileManager.default.removeItem(atPath: path)
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try eventually(seconds: 20) { try server.get("app").json["state"]?.text == "failed" })
            let answer = try restore(server, file)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["backup"]?.text == "app.realm.replaced-damaged")
            #expect(try age(server) == 3)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":6}"#)
            #expect(try RealmEngineReader.age(path) == 6)
        }
    }

    @Test func `a restore that ended in the middle leaves the old file under its one name after the next opening`() throws {
        try withWriteServer { server in
            try server.done("DELETE", "app")
            let path = server.folder + "/app.realm"
            let bytes = try server.bytes()
            let version = try Snapshot(file: try RealmFile(path: path)).version
            // The old file has got the name of a copy, and the new one has not taken its place.
            try FileManager.default.linkItem(atPath: path, toPath: path + ".replaced-\(version)")
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path + ".replaced-7"))
            #expect(try server.attach(#"{"name":"app","path":"\#(path)"}"#).status == 201)
            #expect(try server.get("app").json["mode"]?.text == "rw")
            #expect(try names(server) == ["app.realm", "app.realm.lock", "app.realm.replaced-7"])
            #expect(try server.bytes() == bytes)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":6}"#)
        }
    }

    // MARK: - Files whose key is unknown

    /// Puts a file into the data folder, where it cannot be opened.
    private func putFailing(_ bytes: [UInt8], _ name: String, _ server: WriteServer) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(server.folder)/\(name).realm"))
        // The folder is looked at every two seconds, and the first request opens the file.
        #expect(
            try eventually {
                _ = try server.get("\(name)/schema")
                return try server.get(name).json["state"]?.text == "failed"
            })
    }

    private func remove(_ name: String, _ server: WriteServer) throws {
        try server.done("DELETE", name)
        try FileManager.default.removeItem(atPath: "\(server.folder)/\(name).realm")
    }

    /// The sound file used to be set aside as a damaged one, which nothing could put back.
    @Test func `A18: a realm whose key is unknown is not restored, and opens when the key is given`() throws {
        try withWriteServer { server in
            let plain = try server.get("app/backup").body
            let sealed = try server.send("POST", "app/backup", #"{"encryptionKey":"\#(RestoreTests.key)"}"#).body
            try putFailing(sealed, "safe", server)
            let present = try names(server)
            for query in ["", "?dryRun=true"] {
                for file in [plain, sealed] {
                    let answer = try restore(server, file, "safe", query)
                    #expect(answer.status == 422 && answer.code == "encryption_key_required", "\(answer.text)")
                }
            }
            #expect(try names(server) == present)
            #expect(try server.done("PUT", "safe/key", #"{"encryptionKey":"\#(RestoreTests.key)"}"#).status == 204)
            #expect(try server.get("safe/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 3)
            let answer = try restore(server, sealed, "safe")
            #expect(answer.status == 200, "\(answer.text)")
            // The end of the test opens what is left without a key.
            try server.done("DELETE", "safe?files=true")
        }
    }

    @Test func `A18: a file under another key than the realm's is not damaged, but one that lost its first page is`() throws {
        let other = String(repeating: "cd", count: 64)
        let key = try EncryptionKey(text: RestoreTests.key)
        try withWriteServer(change: { for name in ["other", "plain", "torn"] { $0.keys[name] = key } }) { server in
            let plain = try server.get("app/backup").body
            let own = try server.send("POST", "app/backup", #"{"encryptionKey":"\#(RestoreTests.key)"}"#).body
            for (name, file) in [
                ("other", try server.send("POST", "app/backup", #"{"encryptionKey":"\#(other)"}"#).body), ("plain", plain),
            ] {
                try putFailing(file, name, server)
                let answer = try restore(server, own, name)
                #expect(answer.status == 422 && answer.code == "encryption_key_wrong", "\(answer.text)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: "\(server.folder)/\(name).realm")) == Data(file))
                try remove(name, server)
            }
            var torn = own
            for position in 4096..<8192 { torn[position] ^= 0x55 }
            try putFailing(torn, "torn", server)
            let answer = try restore(server, own, "torn")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.get("torn/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 3)
            try server.done("DELETE", "torn?files=true")
        }
    }

    /// Such files have whole pages and no signature, as encrypted ones do.
    @Test(arguments: [0..<24, 0..<4096] as [Range<Int>], [0, 0xff] as [UInt8])
    func `A18: a plain file that lost its beginning is damaged`(_ range: Range<Int>, _ byte: UInt8) throws {
        try withWriteServer { server in
            var lost = try server.get("app/backup").body
            for position in range { lost[position] = byte }
            try putFailing(lost, "lost", server)
            let answer = try restore(server, try server.get("app/backup").body, "lost")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.get("lost/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 3)
        }
    }

    // MARK: - Conditions

    @Test func `A18, A39: a restore under a condition takes place only in the version that it states`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            let (before, present, bytes) = (try epoch(server), try names(server), try server.bytes())
            let version = try #require(try server.get("app/schema")["Realm-Version"])
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            for tag in ["\"v.nope.1\"", "\"v.\(version)\"", "\"other\"", "*"] {
                for query in ["", "?dryRun=true"] {
                    let answer = try HTTPClient.request(
                        port: server.port, "POST", "/v1/realms/app/restore" + query,
                        headers: RestoreTests.octets + [("If-Match", tag)], body: file)
                    #expect(answer.status == 412 && answer.code == "precondition_failed", "\(tag): \(answer.text)")
                }
            }
            #expect(try names(server) == present)
            #expect(try epoch(server) == before)
            #expect(try server.bytes() != bytes)
            let newest = try #require(try server.get("app/schema")["Realm-Version"])
            let answer = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms/app/restore",
                headers: RestoreTests.octets + [("If-Match", "\"v.\(newest)\"")], body: file)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try age(server) == 3)
        }
    }

    // MARK: - Dry runs

    @Test func `A18: a dry run answers what the restore answers`() throws {
        try withWriteServer { server in
            let file = try server.send("POST", "app/backup", #"{"classes":["Dog"]}"#).body
            let dry = try restore(server, file, "app", "?dryRun=true")
            let real = try restore(server, file)
            #expect(dry.status == 200 && real.status == 200, "\(dry.text) \(real.text)")
            #expect(dry.json["status"]?.int == 200)
            for member in ["state", "mode", "schemaVersion", "classes", "fileBytes", "usedBytes", "path", "empty"] {
                #expect(dry.json["body"]?[member] == real.json[member], "\(member)")
                #expect(real.json[member] != nil)
            }
            #expect(real.json["backup"] != nil && dry.json["body"]?["backup"] == real.json["backup"])
        }
    }

    @Test func `A18: the id of a file that was replaced is not given to another one later`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            var ids: Set<String> = []
            for _ in 0..<3 {
                // The version of the file that is replaced is the same each time.
                ids.insert(try #require(try restore(server, file).json["backup"]?.text))
            }
            #expect(ids.count == 3)
            #expect(try server.get("app/backups").json["items"]?.elements?.count == 1)
        }
    }

    @Test func `A18: a dry run tells of a realm that has failed what it would be, and of a file in use`() throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            try putFailing(Array("damaged".utf8), "bad", server)
            let dry = try restore(server, file, "bad", "?dryRun=true")
            #expect(dry.status == 200, "\(dry.text)")
            #expect(dry.json["body"]?["state"]?.text == "ready")
            #expect(dry.json["body"]?["backup"]?.text == "bad.realm.replaced-damaged")
            #expect(dry["Realm-Version"] == nil)
            #expect(try server.get("bad").json["state"]?.text == "failed")
            // The lock of another program.
            let lock = try OwnershipLock(ofFile: server.folder + "/bad.realm")
            for query in ["?dryRun=true", ""] {
                let answer = try restore(server, file, "bad", query)
                #expect(answer.status == 409 && answer.code == "file_in_use", "\(answer.text)")
            }
            lock.release()
            #expect(try restore(server, file, "bad").status == 200)
        }
    }

    // MARK: - Options of the realm

    @Test(arguments: [#""classes":["Dog","Person"]"#, #""defaults":{"Dog":{"age":7}}"#, #""requireIfMatch":["Dog"]"#])
    func `A18: a file that lacks what the options of the realm name is refused`(_ option: String) throws {
        try withWriteServer { server in
            let lacking = try server.send("POST", "app/backup", #"{"classes":["Note"]}"#).body
            let whole = try server.get("app/backup").body
            try server.done("DELETE", "app")
            let body = #"{"name":"app","path":"\#(server.folder)/app.realm",\#(option)}"#
            #expect(try server.attach(body).status == 201)
            let (bytes, present) = (try server.bytes(), try names(server))
            for query in ["?dryRun=true", ""] {
                let answer = try restore(server, lacking, "app", query)
                #expect(answer.status == 422 && answer.code == "invalid_schema", "\(answer.text)")
            }
            #expect(try server.bytes() == bytes)
            #expect(try names(server) == present)
            #expect(try restore(server, whole).status == 200)
        }
    }
}
