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

/// The backups of a realm as a resource: made, listed, read and deleted.
@Suite struct BackupListTests {
    private static let octets = [("Accept", "application/octet-stream")]
    private static let migration = #"{"fromVersion":0,"toVersion":1,"steps":[{"addClass":{"name":"A","properties":[]}}]}"#

    private func ids(_ server: WriteServer) throws -> [String] {
        try server.get("app/backups").json["items"]?.elements?.compactMap { $0["id"]?.text } ?? []
    }

    private func digest(_ bytes: [UInt8]) throws -> String {
        var digest = try DigestContext()
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try digest.add(view) }
        return Base64.encode(try digest.finish(), .standard)
    }

    @Test func `A18: a backup that is made now can be read, described and deleted by its id`() throws {
        try withWriteServer { server in
            #expect(try ids(server) == [])
            let made = try server.send("POST", "app/backups")
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.json["id"]?.text)
            #expect(made["Location"] == "/v1/realms/app/backups/\(id)")
            #expect(made.json["kind"]?.text == "request")
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            let one = try server.get("app/backups/\(id)")
            #expect(one.status == 200 && one["Content-Type"] == "application/json")
            let file = try server.get("app/backups/\(id)", BackupListTests.octets)
            #expect(file.status == 200 && file["Content-Type"] == "application/octet-stream")
            #expect(one.json["bytes"]?.int == file.body.count)
            let name = id.split(separator: "-").last.map { #"attachment; filename="app.backup-\#($0).realm""# }
            #expect(file["Content-Disposition"] == name)
            #expect(one.json["sha256"]?.text == (try digest(file.body)))
            #expect(file["Repr-Digest"] == "sha-256=:\(try digest(file.body)):")
            let path = server.folder + "/read.tmp"
            try Data(file.body).write(to: URL(fileURLWithPath: path))
            #expect(try RealmEngineReader.age(path) == 3)
            let snapshot = try Snapshot(file: try RealmFile(path: path))
            #expect(snapshot.verify().isClean)
            #expect(one.json["version"]?.int == Int(snapshot.version))
            #expect(try ids(server) == [id])
            #expect(try server.send("DELETE", "app/backups/\(id)").status == 204)
            for method in ["GET", "DELETE"] {
                let gone = try server.send(method, "app/backups/\(id)")
                #expect(gone.status == 404 && gone.code == "not_found")
            }
            #expect(try ids(server) == [])
        }
    }

    @Test func `E9: the copy before a migration is a backup under the id that its answer has`() throws {
        try withWriteServer { server in
            let id = try #require(try server.done("POST", "app/migrations", BackupListTests.migration).json["backup"]?.text)
            #expect(try ids(server) == [id])
            let one = try server.get("app/backups/\(id)")
            #expect(one.json["kind"]?.text == "migration")
            let file = try server.get("app/backups/\(id)", BackupListTests.octets)
            let path = server.folder + "/read.tmp"
            try Data(file.body).write(to: URL(fileURLWithPath: path))
            #expect(try Snapshot(file: try RealmFile(path: path)).schemaVersion == 0)
        }
    }

    @Test func `A18: a copy that was stored elsewhere has an id, as long as it is the file that was stored`() throws {
        try withWriteServer { server in
            let path = server.folder + "-copy.realm"
            defer { try? FileManager.default.removeItem(atPath: path) }
            let stored = try server.send("POST", "app/backup", #"{"path":"\#(path)"}"#)
            #expect(stored.status == 201, "\(stored.text)")
            let location = try #require(stored["Location"])
            #expect(location.hasPrefix("/v1/realms/app/backups/copy-"))
            let id = try #require(location.split(separator: "/").last.map(String.init))
            let one = try server.get("app/backups/\(id)")
            #expect(one.json["kind"]?.text == "copy")
            #expect(one.json["sha256"]?.text == stored.json["sha256"]?.text)
            try FileManager.default.removeItem(atPath: path)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try server.send("DELETE", "app/backups/\(id)").status == 404)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        }
    }

    @Test func `backups are for administrators, have no parameters, and other files have no ids`() throws {
        try withWriteServer { server in
            try Data("mine".utf8).write(to: URL(fileURLWithPath: server.folder + "/app.realm.backup-1"))
            try Data("mine".utf8).write(to: URL(fileURLWithPath: server.folder + "/other"))
            for id in ["app.realm.backup-1", "other", "app.realm", "..%2Fapp.realm.backup-1", "%00"] {
                #expect(try server.get("app/backups/\(id)").status == 404, "\(id)")
            }
            #expect(try server.get("app/backups?x=1").code == "unknown_parameter")
            #expect(try server.send("POST", "app/backups", "{}").code == "unsupported_media_type")
            #expect(try server.send("POST", "none/backups").code == "realm_not_found")
            #expect(try server.attach(#"{"name":"mem","inMemory":"m"}"#).status == 201)
            #expect(try server.send("POST", "mem/backups").code == "not_owned")
            #expect(try server.get("mem/backups").json["items"]?.elements?.isEmpty == true)
        }
    }

    @Test func `E9: backups of a realm are deleted with its file`() throws {
        try withWriteServer { server in
            _ = try server.send("POST", "app/backups")
            _ = try server.send("POST", "app/backups")
            #expect(try ids(server).count == 2)
            try server.done("DELETE", "app?files=true")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: server.folder).sorted() == [".realm-rest", "app.realm.lock"])
        }
    }
}
