// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Restores that are given up before they have changed anything.
@Suite struct RestoreEndTests {
    /// A store from which a backup comes as slowly as a large file is checked: until that is cancelled, or for 20 seconds.
    private final class SlowStore: ForwardingStore {
        let folder: FolderBackupStore
        private let counts = RankedMutex(.leaf, (begun: 0, ended: 0))
        var begun: Int { counts.withLock { $0.begun } }
        /// How many copies were cancelled.
        var ended: Int { counts.withLock { $0.ended } }

        init(_ folder: String) { self.folder = FolderBackupStore(folder) }

        func get(_ name: any StoredName, byteCount: Int, into target: Int32, _ control: WorkControl?) throws(StorageError) {
            counts.withLock { $0.begun += 1 }
            let end = Instant.now().adding(seconds: 20)
            while Instant.now() < end {
                do throws(StorageError) {
                    try control?.check()
                } catch {
                    counts.withLock { $0.ended += 1 }
                    throw error
                }
                Threads.sleep(seconds: 0.005)
            }
            try folder.get(name, byteCount: byteCount, into: target, control)
        }
    }

    /// Calls a function with a server, its store, and the body of a request that restores a backup of the store.
    private func withSlowRestore(_ body: (WriteServer, SlowStore, String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-slow-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = SlowStore(folder)
        try withWriteServer(change: { $0.backupPlan = BackupPlan(every: .seconds(3600), to: store) }) { server in
            var id: String?
            let isMade = try eventually {
                let items = try server.get("app/backups").json["items"]?.elements ?? []
                id = items.compactMap { $0["id"]?.text }.first { $0.hasPrefix("planned-") }
                return id != nil
            }
            try #require(isMade)
            try body(server, store, #"{"backup":"\#(id ?? "")"}"#)
        }
    }

    @Test func `A18: letting go of a realm ends a restore, and is answered when nothing of that is left`() throws {
        try withSlowRestore { server, store, body in
            let bytes = try server.bytes()
            let restore = Awaited<HTTPClient.Answer?>()
            Threads.spawn("restore") { restore.set(try? server.send("POST", "app/restore", body)) }
            #expect(eventually { store.begun == 1 })
            #expect(try server.send("DELETE", "app").status == 204)
            #expect(store.ended == 1)
            let answer = try restore.wait()
            #expect(answer?.status == 404 && answer?.code == "realm_not_found", "\(answer?.text ?? "")")
            #expect(try server.bytes() == bytes)
            let names = try FileManager.default.contentsOfDirectory(atPath: server.folder)
            #expect(names.filter { $0.hasPrefix("app.realm.replaced") } == [])
            #expect(try server.get("app").code == "realm_not_found")
        }
    }

    @Test(arguments: ["", "?dryRun=true"])
    func `A18: a restore whose client has left ends, and the realm goes on as it was`(_ query: String) throws {
        try withSlowRestore { server, store, body in
            let before = try server.get("app/schema")["Realm-Version"]
            let client = try TestSocket(port: server.port)
            try client.send(
                "POST /v1/realms/app/restore\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(eventually { store.begun == 1 })
            client.close()
            #expect(eventually(seconds: 10) { store.ended == 1 })
            #expect(try server.get("app/schema")["Realm-Version"] == before)
            // What was left behind does not keep the next one away.
            let file = try server.get("app/backup").body
            let next = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms/app/restore", headers: [("Content-Type", "application/octet-stream")],
                body: file)
            #expect(next.status == 200, "\(next.text)")
        }
    }

    @Test func `A18: a download of a planned backup ends when its client has left`() throws {
        try withSlowRestore { server, store, body in
            let id = String(body.dropFirst(11).dropLast(2))
            let client = try TestSocket(port: server.port)
            try client.send(
                "GET /v1/realms/app/backups/\(id)?download HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(eventually { store.begun == 1 })
            client.close()
            #expect(eventually(seconds: 10) { store.ended == 1 })
        }
    }

    /// Its lock file and perhaps its file are gone then, which is no fault of another program.
    @Test func `a write whose body comes when its realm was detached is answered as one for a realm that is not there`() throws {
        try withWriteServer { server in
            let client = try HTTPClient(port: server.port)
            let body = #"{"age":5}"#
            try client.send(
                "PATCH /v1/realms/app/objects/Dog/1 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.receiveSome(), "the head is accepted")
            #expect(try server.send("DELETE", "app").status == 204)
            try client.send(body)
            let answer = try client.readAnswer()
            #expect(answer.status == 404 && answer.code == "realm_not_found", "\(answer.text)")
        }
    }

    /// The body of a restore may come when another realm has the name already.
    @Test(arguments: [true, false])
    func `a restore that was sent to a realm that is gone leaves the next one of its name as it is`(_ isMadeAgain: Bool) throws {
        try withWriteServer { server in
            let file = try server.get("app/backup").body
            let client = try HTTPClient(port: server.port)
            try client.send(
                "POST /v1/realms/app/restore HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/octet-stream\r\n"
                    + "Content-Length: \(file.count)\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.receiveSome(), "the head is accepted")
            #expect(try server.send("DELETE", "app").status == 204)
            if isMadeAgain {
                #expect(try HTTPClient.request(port: server.port, "GET", "/v1/realms/app/schema").status == 404)
                let body = Array(#"{"name":"app","path":"app.realm"}"#.utf8)
                let answer = try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: body)
                try #require(answer.status == 201, "\(answer.text)")
                #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":77}"#).status == 200)
            }
            try client.send(file)
            let answer = try client.readAnswer()
            #expect(answer.status == 404 && answer.code == "realm_not_found", "\(answer.text)")
            if isMadeAgain { #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 77) }
            let names = try FileManager.default.contentsOfDirectory(atPath: server.folder)
            #expect(names.filter { $0.hasPrefix("app.realm.replaced") } == [])
        }
    }
}
