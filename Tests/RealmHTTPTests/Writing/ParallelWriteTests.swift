// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Many writers at once: nothing is lost, and commits are shared. Features A24, A34, A36.
@Suite struct ParallelWriteTests {
    @Test func `A36: parallel increments all count, with fewer commits than writes`() throws {
        let server = try WriteServer()
        try server.fill()
        let before = WriteServer.number(try server.get("app")["Realm-Version"])
        let failures = Mutex<[String]>([])
        let versions = Mutex<Set<String>>([])
        let body = #"{"ops":[{"increment":{"class":"Dog","key":"1","property":"age","by":1}}]}"#
        // The first write of each waits, so that all of them are there at once.
        let gate = WriterGate(try server.database())
        try gate.waitUntilHeld()
        let finished = Mutex(0)
        for number in 0..<32 {
            Threads.spawn("writer-\(number)") {
                do {
                    let client = try HTTPClient(port: server.port)
                    for _ in 0..<8 {
                        let answer = try client.request(
                            "POST", "/v1/realms/app/batch", headers: [WriteServer.json], body: Array(body.utf8))
                        if answer.status == 200, let version = answer.json["version"]?.text {
                            _ = versions.withLock { $0.insert(version) }
                        } else {
                            failures.withLock { $0.append(answer.text) }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
                finished.withLock { $0 += 1 }
            }
        }
        #expect(try eventually { try server.database().pendingWrites >= 33 })
        gate.open()
        #expect(eventually { finished.withLock { $0 } == 32 })
        #expect(failures.withLock { $0 } == [])
        #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3 + 256)
        let commits = WriteServer.number(try server.get("app")["Realm-Version"]) - before
        #expect(commits == versions.withLock { $0.count })
        // The first 32 are one commit with one sync.
        #expect(commits <= 256 - 31)
        try server.finish()
    }

    @Test func `of writers with the same tag one succeeds`() throws {
        let server = try WriteServer()
        try server.fill()
        let tag = try server.get("app/objects/Dog/1")["ETag"] ?? ""
        let statuses = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 12) { index in
            let answer = try? server.send("PATCH", "app/objects/Dog/1", #"{"age":\#(100 + index)}"#, [("If-Match", tag)])
            statuses.withLock { $0.append(answer?.status ?? 0) }
        }
        #expect(statuses.withLock { $0.sorted() } == [200] + Array(repeating: 412, count: 11))
        try server.finish()
    }

    @Test func `names of linking objects cannot be written`() throws {
        let server = try WriteServer { $0.backlinkNames = ["app": BacklinkNames(["Dog": ["owners": "Person.dogs"]])] }
        let answer = try server.send("POST", "app/objects/Dog", #"{"_id":1,"age":1,"owners":[]}"#)
        #expect(answer.code == "read_only_property")
        #expect(answer.json["pointer"]?.text == "/owners")
        try server.finish()
    }
}
