// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import MicroHTTP
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Deleting, copies before migrations, names and modes: what the server makes, and what it takes away again.
@Suite struct OwnFilesTests {
    private func names(_ server: WriteServer) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: server.folder)).subtracting([".realm-rest"])
    }

    private func mode(_ path: String) -> mode_t {
        mode_t(NodeStatus(at: path)?.permissions ?? 0)
    }

    // MARK: - Deleting

    @Test func `A21: deleting is all or nothing: a file that somebody has a lock on stays, and is served on`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let snapshot = try server.done("POST", "app/snapshots", "{}").json["id"]?.text ?? ""
            let other = unsafe open(server.folder + "/app.realm.lock", O_RDONLY)
            defer { close(other) }
            #expect(flock(other, LOCK_SH | LOCK_NB) == 0)
            let before = TreeDigest(server.folder)
            for query in ["?files=true&dryRun=true", "?files=true"] {
                let answer = try server.send("DELETE", "app" + query)
                #expect(answer.status == 409 && answer.code == "file_in_use", "\(answer.text)")
            }
            #expect(TreeDigest(server.folder).differences(from: before).isEmpty)
            #expect(try server.get("app/objects/Dog/1?snapshot=" + snapshot).status == 200)
            try server.done("POST", "app/objects/Note", #"{"text":"on"}"#)
            flock(other, LOCK_UN)
            #expect(try server.send("DELETE", "app?files=true").status == 204)
            #expect(try names(server) == ["app.realm.lock"])
        }
    }

    @Test func `the original behind a copy, and what was attached from elsewhere, is never deleted`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let elsewhere = server.folder + "-elsewhere"
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: elsewhere) }
            try server.bytes().write(to: URL(fileURLWithPath: elsewhere + "/far.realm"))
            try FileManager.default.createSymbolicLink(
                atPath: server.folder + "/link.realm", withDestinationPath: elsewhere + "/far.realm")
            for body in [
                #"{"name":"x","path":"\#(server.folder)/app.realm","mode":"copy"}"#,
                #"{"name":"x","path":"\#(elsewhere)/far.realm"}"#,
                #"{"name":"x","path":"\#(server.folder)/link.realm"}"#,
            ] {
                #expect(try server.attach(body).status == 201)
                for query in ["?files=true&dryRun=true", "?files=true"] {
                    let answer = try server.send("DELETE", "x" + query)
                    #expect(answer.status == 409 && answer.code == "not_owned", "\(body): \(answer.text)")
                }
                #expect(try server.get("x").status == 200)
                try server.done("DELETE", "x")
                #expect(FileManager.default.fileExists(atPath: elsewhere + "/far.realm"))
            }
            unsafe unlink(server.folder + "/link.realm")
        }
    }

    @Test func `what failed to be opened is deleted when nobody holds it; a file that is gone is told and let go of`() throws {
        let folder = realPath(of: NSTemporaryDirectory()) + "/realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: folder + "/bad.realm"))
        try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: folder + "/held.realm"))
        try FileManager.default.createDirectory(atPath: folder + "/folder.realm", withIntermediateDirectories: true)
        let lock = try OwnershipLock(ofFile: folder + "/held.realm")
        var options = ServerOptions()
        (options.port, options.logFormat, options.graceSeconds, options.dataFolder) = (0, nil, 0, folder)
        let server = try RealmServer(options)
        try server.start()
        defer { server.stop() }
        func delete(_ name: String, _ query: String = "?files=true") throws -> HTTPClient.Answer {
            try HTTPClient.request(port: server.daemon.socket.port, "DELETE", "/v1/realms/" + name + query)
        }
        #expect(try delete("bad", "?files=true&dryRun=true").status == 200)
        #expect(try delete("bad").status == 204)
        #expect(!FileManager.default.fileExists(atPath: folder + "/bad.realm"))
        #expect(try delete("bad").code == "realm_not_found")
        #expect(try delete("held").code == "file_in_use")
        #expect(FileManager.default.fileExists(atPath: folder + "/held.realm"))
        lock.release()
        #expect(try delete("held").status == 204)
        #expect(try delete("folder").code == "realm_not_found")
        #expect(FileManager.default.fileExists(atPath: folder + "/folder.realm"))
    }

    @Test func `A21: a file that somebody has removed is told, and its realm is let go of`() throws {
        try withWriteServer { (server: WriteServer) throws in
            unsafe unlink(server.folder + "/app.realm")
            let answer = try server.send("DELETE", "app?files=true")
            #expect(answer.status == 404 && answer.code == "file_not_found", "\(answer.text)")
            #expect(try server.get("app").code == "realm_not_found")
        }
    }

    @Test func `A21: what belongs to a file goes with it; what only has such a name stays`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/app.realm"
            func write(_ name: String) throws { try Data("mine".utf8).write(to: URL(fileURLWithPath: path + name)) }
            for name in [".before-1", ".v23.backup", ".before-x", ".log", ".new", ".tmp_compaction_space"] { try write(name) }
            unsafe mkfifo(path + ".note", 0o600)
            unsafe mkdir(path + ".management", 0o700)
            unsafe mkfifo(path + ".management/access_control.new_commit.cv", 0o600)
            try server.done(
                "POST", "app/migrations", #"{"fromVersion":0,"toVersion":1,"steps":[{"addClass":{"name":"A","properties":[]}}]}"#)
            try server.done("DELETE", "app?files=true")
            #expect(
                try names(server) == [
                    "app.realm.lock", "app.realm.before-1", "app.realm.v23.backup", "app.realm.before-x", "app.realm.log",
                    "app.realm.new",
                    "app.realm.tmp_compaction_space",
                ])
        }
    }

    // MARK: - Copies before migrations

    @Test func `a copy is made only when something is written, the newest stay, and they are named and listed`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func copies() throws -> Set<String> { try names(server).filter { $0.contains(".before-") } }
            let refused = #"{"fromVersion":7,"toVersion":8,"steps":[{"addClass":{"name":"X","properties":[]}}]}"#
            for _ in 0..<3 { #expect(try server.send("POST", "app/migrations", refused).code == "schema_version_conflict") }
            #expect(
                try server.send(
                    "POST", "app/migrations", #"{"fromVersion":0,"toVersion":1,"steps":[{"removeClass":{"name":"None"}}]}"#
                ).status == 422)
            try server.done("POST", "app/migrations", #"{"fromVersion":0,"toVersion":0,"steps":[]}"#)
            try server.done(
                "POST", "app/migrations?dryRun=true",
                #"{"fromVersion":0,"toVersion":1,"steps":[{"addClass":{"name":"X","properties":[]}}]}"#)
            #expect(try copies() == [])
            var last = ""
            for number in 0..<4 {
                let answer = try server.done(
                    "POST", "app/migrations",
                    #"{"fromVersion":\#(number),"toVersion":\#(number + 1),"steps":[{"addClass":{"name":"C\#(number)","properties":[]}}]}"#
                )
                last = try #require(answer.json["backup"]?.text)
                #expect(try copies() == [last])
                #expect(mode(server.folder + "/" + last) == 0o600)
            }
            let listed = try server.get("app").json["backups"]?.elements
            #expect(listed?.compactMap { $0["name"]?.text } == [last])
            let copy = try Snapshot(file: try RealmFile(path: server.folder + "/" + last))
            #expect(copy.schemaVersion == 3 && copy.verify().isClean)
        }
    }

    @Test func `how many copies are kept is said when a realm is attached; of an encrypted realm they are encrypted`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let key = String(repeating: "0c", count: 64)
            for (name, count) in [("none", 0), ("some", 2)] {
                let body =
                    #"{"name":"\#(name)","encryptionKey":"\#(key)","keepMigrationBackups":\#(count),"schema":{"schemaVersion":0,"classes":[]}}"#
                #expect(try server.attach(body).status == 201)
                for number in 0..<4 {
                    try server.done(
                        "POST", name + "/migrations",
                        #"{"fromVersion":\#(number),"toVersion":\#(number + 1),"steps":[{"addClass":{"name":"C\#(number)","properties":[]}}]}"#
                    )
                }
                let copies = try names(server).filter { $0.hasPrefix(name + ".realm.before-") }
                #expect(copies.count == count)
                for copy in copies {
                    #expect(throws: StorageError.self) { try RealmFile(path: server.folder + "/" + copy) }
                    _ = try RealmFile(path: server.folder + "/" + copy, key: try EncryptionKey(text: key))
                }
                try server.done("DELETE", name + "?files=true")
                #expect(try names(server).filter { $0.hasPrefix(name) } == [name + ".realm.lock"])
            }
        }
    }

    // MARK: - Names and modes

    @Test(arguments: [".", "..", ".hidden", "", "a b", "a/b", String(repeating: "n", count: 65)])
    func `names that paths fold or listings hide are refused`(_ name: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            for query in ["", "?dryRun=true"] {
                for member in ["", #","inMemory":"m""#, #","path":"\#(server.folder)/app.realm","mode":"copy""#] {
                    let answer = try server.attach(#"{"name":"\#(name)"\#(member)}"#, query)
                    #expect(answer.status == 400 && answer.code == "invalid_body", "\(answer.text)")
                    #expect(answer.json["pointer"]?.text == "/name")
                }
            }
        }
    }

    @Test func `new files can be read by nobody else`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"new","schema":{"classes":[]}}"#).status == 201)
            #expect(try server.attach(#"{"name":"grown","seed":"\#(server.folder)/app.realm"}"#).status == 201)
            for name in ["new.realm", "new.realm.lock", "grown.realm", "grown.realm.lock"] {
                #expect(mode(server.folder + "/" + name) == 0o600, "\(name)")
            }
        }
    }

    @Test func `what a server that was killed left of its own is taken away at the next start, and nothing else`()
        throws
    {
        let folder = realPath(of: NSTemporaryDirectory()) + "/realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let kept = [".realm-rest-.part", ".realm-rest-XYZ.part", "realm-rest-12.part", ".realm-rest-12.part.txt"]
        for name in kept + [".realm-rest-12ab.part"] { try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        var options = ServerOptions()
        (options.port, options.logFormat, options.graceSeconds, options.dataFolder) = (0, nil, 0, folder)
        let server = try RealmServer(options)
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == Set(kept + [".realm-rest"]))
        server.stop()
    }
}
