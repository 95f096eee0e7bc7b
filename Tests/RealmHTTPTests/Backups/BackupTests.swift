// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Backups over HTTP: Realm files as answers, and files that the server stores.
@Suite struct BackupTests {
    private static let key = String(repeating: "ab", count: 64)

    /// Opens the file in an answer.
    private func snapshot(_ answer: HTTPClient.Answer, key: String? = nil) throws -> Snapshot {
        let path = NSTemporaryDirectory() + "realm-rest-backup-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(answer.body).write(to: URL(fileURLWithPath: path))
        let snapshot = try Snapshot(file: try RealmFile(path: path, key: try key.map { try EncryptionKey(text: $0) }))
        let report = snapshot.verify()
        #expect(report.isClean, "\(report.errors)")
        return snapshot
    }

    private func ages(_ snapshot: Snapshot) throws -> [Int64] {
        let table = try #require(snapshot.classTable(named: "Dog"))
        let column = try #require(table.column(named: "age"))
        var ages: [Int64] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count {
                guard case .int(let age) = try leaf.value(column, row: row) else { continue }
                ages.append(age)
            }
        }
        return ages
    }

    @Test func `A18: a backup is a sound file of the newest version, with its length and its digest`() throws {
        try withWriteServer { server in
            let answer = try server.get("app/backup")
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "application/octet-stream")
            #expect(answer["Content-Disposition"] == #"attachment; filename="app.realm""#)
            #expect(answer["Content-Length"] == String(answer.body.count))
            var digest = try DigestContext()
            try ByteView.withBytes(of: answer.body) { view throws(StorageError) in try digest.add(view) }
            let sum = Base64.encode(try digest.finish(), .standard)
            #expect(answer["Repr-Digest"] == "sha-256=:\(sum):")
            #expect(answer["Realm-Version"] == (try server.get("app/schema"))["Realm-Version"])
            #expect(try ages(snapshot(answer)) == [3, 5])
            #expect(answer.body.count <= (try server.bytes().count))
            let head = try server.send("HEAD", "app/backup")
            #expect(head.status == 200)
            #expect(head["Content-Length"] == answer["Content-Length"])
            #expect(head.body.isEmpty)
        }
    }

    @Test func `A18: inside a transaction a copy has the uncommitted data, and that of a snapshot the old`() throws {
        try withWriteServer { server in
            let lease = try server.done("POST", "app/snapshots", "{}").json["id"]?.text ?? ""
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            let transaction = try server.done("POST", "app/transactions", "{}").json["id"]?.text ?? ""
            let header = [("Realm-Transaction", transaction)]
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":9}"#, header)
            #expect(try ages(snapshot(server.get("app/backup", header))) == [9, 5])
            #expect(try ages(snapshot(server.send("POST", "app/backup", "{}", header))) == [9, 5])
            #expect(try ages(snapshot(server.get("app/backup"))) == [4, 5])
            #expect(try ages(snapshot(server.get("app/backup?snapshot=\(lease)"))) == [3, 5])
            try server.done("DELETE", "app/transactions/\(transaction)")
        }
    }

    @Test func `A18, A19: a copy under another key opens with that key only`() throws {
        try withWriteServer { server in
            let answer = try server.send("POST", "app/backup", #"{"encryptionKey":"\#(BackupTests.key)"}"#)
            #expect(answer.status == 200)
            #expect(try ages(snapshot(answer, key: BackupTests.key)) == [3, 5])
            #expect(throws: StorageError.self) { try snapshot(answer) }
            #expect(throws: StorageError.self) { try snapshot(answer, key: String(repeating: "cd", count: 64)) }
        }
    }

    @Test func `A18: a copy of an encrypted realm has its key, or none if that is asked for`() throws {
        try withWriteServer { server in
            let created = try server.attach(
                #"{"name":"safe","encryptionKey":"\#(BackupTests.key)","schema":{"classes":[{"name":"Dog","properties":[{"name":"age","type":"int"}]}]}}"#
            )
            try #require(created.status == 201, "\(created.text)")
            try server.done("POST", "safe/objects/Dog", #"{"age":7}"#)
            #expect(try ages(snapshot(server.get("safe/backup"), key: BackupTests.key)) == [7])
            #expect(try ages(snapshot(server.send("POST", "safe/backup", "{}"), key: BackupTests.key)) == [7])
            #expect(try ages(snapshot(server.send("POST", "safe/backup", #"{"encryptionKey":null}"#))) == [7])
            // The end of the test opens what is left without a key.
            try server.done("DELETE", "safe?files=true")
        }
    }

    @Test func `A18: a copy can be stored where requests may name files, and never over another`() throws {
        try withWriteServer { server in
            let path = server.folder + "/second.realm"
            let body = #"{"path":"\#(path)","classes":["Dog","Chip"]}"#
            let answer = try server.send("POST", "app/backup", body)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer["Location"] == "/v1/realms/second")
            #expect(answer.json["bytes"]?.int == (try Data(contentsOf: URL(fileURLWithPath: path)).count))
            #expect(try server.get("second/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 3)
            #expect(try server.get("second/schema").text.contains("Person") == false)
            let again = try server.send("POST", "app/backup", body)
            #expect(again.status == 409)
            #expect(again.code == "file_exists")
            let outside = try server.send("POST", "app/backup", #"{"path":"/etc/copy.realm"}"#)
            #expect(outside.status == 403)
            #expect(outside.code == "path_not_allowed")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: server.folder).contains { $0.hasPrefix(".realm-rest-") }
                    == false)
        }
    }

    /// Such files would be served under another name, or not at all, or be taken for something of the server.
    @Test(arguments: [
        ".realm-rest/realms.json", ".realm-rest/x.realm", "store.realm.lock", "noext", "sub.realm.before-3", ".hid.realm",
        "bad name.realm", ".realm", "sub/deep.realm", "x.REALM",
    ])
    func `A18: a copy in the data folder has the name of a realm`(_ name: String) throws {
        try withWriteServer { server in
            try? FileManager.default.createDirectory(atPath: server.folder + "/sub", withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: server.folder + "/sub") }
            let existed = FileManager.default.fileExists(atPath: server.folder + "/" + name)
            let answer = try server.send("POST", "app/backup", #"{"path":"\#(server.folder)/\#(name)"}"#)
            #expect(answer.status == 400 && answer.code == "invalid_body", "\(answer.text)")
            #expect(answer.json["pointer"]?.text == "/path")
            #expect(FileManager.default.fileExists(atPath: server.folder + "/" + name) == existed)
        }
    }

    @Test func `A18: the Location of a copy leads to it, whatever was served under its name before`() throws {
        try withWriteServer { server in
            let path = server.folder + "/second.realm"
            let body = #"{"path":"\#(path)"}"#
            try server.done("POST", "app/backup", body)
            try server.done("DELETE", "second")
            let taken = try server.send("POST", "app/backup", body)
            #expect(taken.status == 409 && taken.code == "file_exists", "\(taken.text)")
            try FileManager.default.removeItem(atPath: path)
            let again = try server.done("POST", "app/backup", body)
            #expect(again["Location"] == "/v1/realms/second")
            #expect(try server.get("second/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 3)
            // Another file has the name.
            #expect(try server.attach(#"{"name":"third","inMemory":"m"}"#).status == 201)
            let other = try server.send("POST", "app/backup", #"{"path":"\#(server.folder)/third.realm"}"#)
            #expect(other.status == 409 && other.code == "already_attached", "\(other.text)")
            #expect(!FileManager.default.fileExists(atPath: server.folder + "/third.realm"))
        }
    }

    @Test(arguments: ["backup", "backups", "compact", "transactions/none/commit"])
    func `a body of another type than the request takes is refused`(_ path: String) throws {
        try withWriteServer { server in
            let present = try FileManager.default.contentsOfDirectory(atPath: server.folder).sorted()
            let types = path == "backup" ? ["text/plain", "text/csv", nil] : ["text/plain", "application/json", nil]
            for type in types {
                let answer = try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms/app/\(path)",
                    headers: type.map { [("Content-Type", $0)] } ?? [], body: Array("{}".utf8))
                #expect(answer.status == 415 && answer.code == "unsupported_media_type", "\(type ?? "none"): \(answer.text)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.folder).sorted() == present)
        }
    }

    @Test(arguments: [
        (#"{"syncConfiguration":{}}"#, 400, "invalid_body", "/syncConfiguration"),
        (#"{"encryptionKey":"short"}"#, 400, "invalid_body", "/encryptionKey"),
        (#"{"encryptionKey":7}"#, 400, "invalid_body", "/encryptionKey"),
        (#"{"classes":[]}"#, 400, "invalid_body", "/classes"),
        (#"{"classes":["Dog",3]}"#, 400, "invalid_body", "/classes/1"),
        (#"{"classes":["Dog","Dgo"]}"#, 422, "invalid_schema", "/classes/1"),
        (#"{"target":"x"}"#, 400, "invalid_body", "/target"),
    ])
    func `A19: what a copy cannot have is refused by name`(_ body: String, _ status: Int, _ code: String, _ pointer: String)
        throws
    {
        try withWriteServer { server in
            let answer = try server.send("POST", "app/backup", body)
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.code == code)
            #expect(answer.json["pointer"]?.text == pointer)
        }
    }
}
