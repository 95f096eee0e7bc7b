// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Served files that others shorten, replace, remove or write to. That used to end the process, or to have writes answered
/// that were gone at the next start.
@Suite("Served files that change underneath", .serialized, .ownThread)
struct ChangedFileTests {
    enum Mode: String, CaseIterable, Sendable { case readWrite, readOnly, copy, encrypted, encryptedReadOnly }

    /// A server of `app`, which is changed, and `other`, which is not.
    private final class Served {
        let folder: String
        let server: RealmServer
        let isEncrypted: Bool
        let isWritable: Bool
        let original: Data
        var path: String { folder + "/served/app.realm" }

        init(_ mode: Mode) throws {
            folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
            isEncrypted = mode == .encrypted || mode == .encryptedReadOnly
            isWritable = mode == .readWrite || mode == .encrypted
            for name in ["served", "kept"] {
                try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
            }
            let plain = folder + "/kept/plain.realm"
            let realm = try EngineRealm(path: plain, WriteServer.classes)
            try realm.finish()
            try FileManager.default.copyItem(atPath: plain, toPath: folder + "/kept/other.realm")
            let snapshot = try Snapshot(file: try RealmFile(path: plain))
            let key = isEncrypted ? try EncryptionKey(bytes: Fixtures.key) : nil
            try SnapshotCopy.write(snapshot, toFile: folder + "/served/app.realm", key: key)
            original = try Data(contentsOf: URL(fileURLWithPath: folder + "/served/app.realm"))
            var options = ServerOptions()
            options.port = 0
            options.logFormat = nil
            options.graceSeconds = 0
            options.attachRoots = [folder]
            options.isReadOnly = mode == .readOnly || mode == .encryptedReadOnly
            options.paths =
                mode == .copy ? [folder + "/kept/other.realm"] : [folder + "/served/app.realm", folder + "/kept/other.realm"]
            if let key { options.keys["app"] = key }
            ListedProblems.watch()
            server = try RealmServer(options)
            try server.start()
            if mode == .copy {
                let answer = try send("POST", "", "{\"name\":\"app\",\"path\":\"\(path)\",\"mode\":\"copy\"}")
                guard answer.status == 201 else { throw WriteServer.Damaged(description: answer.text) }
            }
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(atPath: folder)
        }

        @discardableResult
        func send(_ method: String, _ path: String, _ body: String? = nil) throws -> HTTPClient.Answer {
            try HTTPClient.request(
                port: server.daemon.socket.port, method, path.isEmpty ? "/v1/realms" : "/v1/realms/" + path,
                headers: body == nil ? [] : [WriteServer.json], body: body.map { Array($0.utf8) })
        }

        func get(_ path: String) throws -> HTTPClient.Answer { try send("GET", path) }

        /// Puts the file back as `cp` does: into what is there, or as a new one.
        func restore() throws {
            try? FileManager.default.createDirectory(atPath: folder + "/served", withIntermediateDirectories: true)
            try original.write(to: URL(fileURLWithPath: path))
        }

        func waitUntilReady(_ seconds: Double = 20) throws -> Bool {
            try eventually(seconds: seconds) { try get("app/objects/Dog").status == 200 }
        }

        /// What the realm document tells as the epoch.
        func epoch() throws -> String {
            try get("app").json["version"]?.text?.split(separator: ".").first.map(String.init) ?? ""
        }
    }

    private static let dog = #"{"_id":77,"age":7}"#

    /// Nothing happens to a private copy; a file that is only read has no lock of its own.
    private static let pairs: [(FileMischief, Mode)] = FileMischief.allCases.flatMap { mischief in
        Mode.allCases.filter { mode in
            mode != .copy && (mischief != .lockRemoved || mode == .readWrite || mode == .encrypted)
        }.map { (mischief, $0) }
    }

    @Test(arguments: pairs)
    func `cost their own realm a 503, and are served again when they are sound`(_ mischief: FileMischief, _ mode: Mode) throws {
        let served = try Served(mode)
        #expect(try served.get("app/objects/Dog").status == 200)
        if served.isWritable { #expect(try served.send("POST", "app/objects/Dog", #"{"_id":1,"age":1}"#).status == 201) }
        let epoch = try served.epoch()
        usleep(60_000)
        try mischief.act(on: served.path, other: served.folder + "/kept/other.realm")
        if served.isWritable {
            let answer = try served.send("POST", "app/objects/Dog", Self.dog)
            #expect(answer.status == 503 && answer.code == "realm_unavailable", "\(answer.text)")
        } else {
            let answer = try served.get("app/objects/Dog")
            #expect(answer.status == 503 && answer.code == "realm_unavailable", "\(answer.text)")
        }
        #expect(try served.get("other/objects/Dog").status == 200)
        if mischief != .lockRemoved {
            try? FileManager.default.removeItem(atPath: served.path)
            try served.restore()
        }
        let isReady = try served.waitUntilReady()
        let document = try served.get("app").text
        #expect(isReady, "\(document)")
        #expect(try served.epoch() != epoch)
        guard served.isWritable else { return }
        #expect(try served.get("app/objects/Dog/77").status == 404)
        #expect(try served.send("POST", "app/objects/Dog", Self.dog).status == 201)
        served.server.stop()
        let key = served.isEncrypted ? try EncryptionKey(bytes: Fixtures.key) : nil
        let snapshot = try Snapshot(file: try RealmFile(path: served.path, key: key))
        #expect(snapshot.verify().isClean && snapshot.classTable(named: "Dog")?.count == (mischief == .lockRemoved ? 2 : 1))
    }

    @Test(arguments: [Mode.readWrite, .readOnly, .encrypted])
    func `are copied back in place`(_ mode: Mode) throws {
        let served = try Served(mode)
        #expect(try served.get("app/objects/Dog").status == 200)
        for length in [0, 4096, served.original.count / 2] {
            usleep(60_000)
            unsafe truncate(served.path, off_t(length))
            #expect(try served.get("app/objects/Dog").code == "realm_unavailable")
            let document = try served.get("app").json
            #expect(document["state"]?.text == "failed" && document["problem"] != nil)
            #expect(try HTTPClient.request(port: served.server.daemon.socket.port, "GET", "/readyz").status == 503)
            try FileMischief.write(served.original, to: served.path)
            #expect(try served.waitUntilReady())
            #expect(try served.get("app/objects/Dog").status == 200)
            #expect(try HTTPClient.request(port: served.server.daemon.socket.port, "GET", "/readyz").status == 200)
            #expect(try Data(contentsOf: URL(fileURLWithPath: served.path)).count >= served.original.count)
        }
    }

    @Test func `are noticed without any request, and healed so`() throws {
        let served = try Served(.readWrite)
        let epoch = try served.epoch()
        try FileManager.default.removeItem(atPath: served.path)
        func isReady() throws -> Bool {
            try HTTPClient.request(port: served.server.daemon.socket.port, "GET", "/readyz").status == 200
        }
        #expect(try eventually(seconds: 20) { try !isReady() })
        try served.restore()
        #expect(try eventually(seconds: 20) { try isReady() })
        #expect(try served.epoch() != epoch)
    }

    @Test(arguments: [Mode.readWrite, .readOnly])
    func `end streams with an error that may pass, answer polls, and end leases`(_ mode: Mode) throws {
        let served = try Served(mode)
        let port = served.server.daemon.socket.port
        let lease = try served.send("POST", "app/snapshots", "{}")
        let id = lease.json["id"]?.text ?? ""
        #expect(mode == .readOnly || lease.status == 201, "\(lease.text)")
        let stream = try EventClient(port: port, "/v1/realms/app/changes?class=Dog")
        while let event = try stream.next(), event.name != "ready" {}
        unsafe truncate(served.path, 0)
        var names: [String] = []
        var last: EventClient.Event?
        while let event = try stream.next() {
            if !event.name.isEmpty { names.append(event.name) }
            last = event
        }
        #expect(names == ["error"], "\(names)")
        #expect(last?.json["code"]?.text == "realm_unavailable" && last?.json["retryable"] == .bool(true))
        try FileManager.default.removeItem(atPath: served.path)
        try served.restore()
        #expect(try served.waitUntilReady())
        if mode == .readWrite { #expect(try served.get("app/objects/Dog?snapshot=\(id)").status == 410) }
        let again = try EventClient(port: port, "/v1/realms/app/changes?class=Dog")
        #expect(again.status == 200)
        while let event = try again.next(), event.name != "ready" {}
    }

    @Test func `cut a long answer off instead of ending it well`() throws {
        let served = try Served(.readWrite)
        // More than the buffers of a connection hold, so that the answer is still being made when the file is cut.
        let text = String(repeating: "x", count: 2_000_000)
        for _ in 0..<50 {
            #expect(try served.send("POST", "app/objects/Note", "{\"text\":\"\(text)\"}").status == 201)
        }
        let client = try HTTPClient(port: served.server.daemon.socket.port)
        try client.send("GET /v1/realms/app/export HTTP/1.1\r\nHost: 127.0.0.1:\(served.server.daemon.socket.port)\r\n\r\n")
        usleep(300_000)
        unsafe truncate(served.path, 4096)
        usleep(100_000)
        let answer = try client.readAnswer()
        #expect(answer.status == 200 && !answer.isComplete)
        let body = String(decoding: answer.body, as: UTF8.self)
        #expect(!body.contains("\\u0000") && !body.contains("\0"))
    }

    @Test func `that could not be opened at the start are served once they can be`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(repeating: 7, count: 4096).write(to: URL(fileURLWithPath: folder + "/app.realm"))
        let sound = try TemporaryRealm()
        try EngineRealm(path: sound.path, WriteServer.classes).finish()
        let server = try TestServer([]) { options in
            options.dataFolder = folder
            options.isReadOnly = false
        }
        #expect(try server.get("/v1/realms/app/objects/Dog").code == "not_a_realm")
        #expect(try server.get("/readyz").status == 503)
        try FileManager.default.removeItem(atPath: folder + "/app.realm")
        try FileManager.default.copyItem(atPath: sound.path, toPath: folder + "/app.realm")
        #expect(try eventually(seconds: 20) { try server.get("/v1/realms/app/objects/Dog").status == 200 })
        #expect(try server.get("/readyz").status == 200)
    }

    @Test func `with free blocks on what is in use are read, and tell why they are not written`() throws {
        let file = try TemporaryRealm("multi-commit")
        var editor = FileEditor(try file.bytes)
        let positions = editor.child(editor.top, 3)
        editor.setElement(positions, 0, editor.element(positions, editor.count(positions) - 1))
        try file.write(editor.bytes)
        let before = try file.bytes
        let server = try TestServer([]) { options in
            options.paths = [file.path]
            options.isReadOnly = false
        }
        let document = try server.get("/v1/realms/test").json
        #expect(document["state"]?.text == "ready" && document["mode"]?.text == "ro")
        #expect(document["readOnlyReason"]?["code"]?.text == "file_corrupt")
        let answer = try server.request("DELETE", "/v1/realms/test/objects?confirm=all")
        #expect(answer.status == 405 && answer.code == "read_only")
        #expect(answer.json["detail"]?.text?.contains("damaged") == true, "\(answer.text)")
        #expect(try file.bytes == before)
    }

    @Test func `leave readiness alone when only a request has named them`() throws {
        let served = try Served(.copy)
        let path = served.folder + "/kept/plain.realm"
        #expect(try served.send("POST", "", "{\"name\":\"named\",\"path\":\"\(path)\"}").status == 201)
        try FileManager.default.removeItem(atPath: path)
        #expect(try eventually(seconds: 20) { try served.get("named/objects/Dog").status == 503 })
        #expect(try served.get("named").json["state"]?.text == "failed")
        #expect(try HTTPClient.request(port: served.server.daemon.socket.port, "GET", "/readyz").status == 200)
        #expect(try served.send("DELETE", "named").status == 204)
        #expect(try served.get("named").status == 404)
    }

    @Test(arguments: FileMischief.allCases.filter { $0 != .lockRemoved })
    func `do not disturb a private copy, whatever becomes of the original`(_ mischief: FileMischief) throws {
        let served = try Served(.copy)
        try mischief.act(on: served.path, other: served.folder + "/kept/other.realm")
        usleep(60_000)
        #expect(try served.send("POST", "app/objects/Dog", Self.dog).status == 201)
        #expect(try served.get("app/objects/Dog/77").status == 200)
    }
}
