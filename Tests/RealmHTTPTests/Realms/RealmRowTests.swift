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

/// Rows about a realm as a whole: what it is, what it tells of itself, and what becomes of it when it is let go of.
@Suite struct RealmRowTests {
    private static let item =
        #"{"schemaVersion":3,"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}"#
    /// A request as a proxy forwards it. Whoever comes so may read at most.
    private static let forwarded = [("X-Forwarded-For", "192.0.2.7")]

    /// Where this process has a file open or mapped.
    private func uses(of path: String) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
        }
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
        return files + maps.filter { $0.hasSuffix(" " + path) }.map(String.init)
    }

    @Test func `A1: a file and a realm in memory are realms, and tell their facts`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.attach(#"{"name":"file","schema":\#(RealmRowTests.item)}"#).status == 201)
            #expect(try server.attach(#"{"name":"heap","inMemory":"heap","schema":\#(RealmRowTests.item)}"#).status == 201)
            for name in ["file", "heap"] {
                try server.done("POST", "\(name)/objects/Item", #"{"id":1}"#)
                let answer = try server.get(name)
                let facts = answer.json
                #expect(answer.status == 200 && facts["name"]?.text == name && facts["state"]?.text == "ready", "\(facts)")
                #expect(facts["mode"]?.text == "rw" && facts["encrypted"]?.bool == false && facts["empty"]?.bool == false)
                #expect(facts["inMemory"]?.bool == (name == "heap"))
                #expect(facts["schemaVersion"]?.int == 3 && facts["classes"]?.int == 1)
                #expect((facts["usedBytes"]?.int ?? 0) > 0 && (facts["fileFormat"]?.int ?? 0) > 20)
                #expect(facts["version"]?.text == answer["Realm-Version"] && facts["version"]?.text?.isEmpty == false)
                #expect((facts["path"]?.text == nil) == (name == "heap"))
            }
            #expect(FileManager.default.fileExists(atPath: server.folder + "/file.realm"))
            #expect(!FileManager.default.fileExists(atPath: server.folder + "/heap.realm"))
            // Each is a unit of its own.
            try server.done("DELETE", "heap/objects/Item/1")
            #expect(try server.get("file/objects/Item/1").status == 200)
            try server.done("DELETE", "heap")
        }
    }

    @Test func `A3: a realm that is let go of ends streams and leases and closes its file; another file there is another realm`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let path = try #require(try server.get("app").json["path"]?.text)
            let stream = try EventClient(port: server.port, "/v1/realms/app/changes?class=Dog&include=keys")
            _ = try stream.next("snapshot")
            let position = try #require(try stream.next("ready").id)
            let held = try #require(try server.done("POST", "app/snapshots", "{}").json["id"]?.text)
            let open = try #require(try server.done("POST", "app/transactions", "{}").json["id"]?.text)
            #expect(try !uses(of: path).isEmpty)
            #expect(try server.send("DELETE", "app").status == 204)
            #expect(try stream.next("end").json["reason"]?.text == "deleted")
            #expect(try stream.next() == nil)
            // As soon as the last answer about it is over.
            #expect(try eventually { try uses(of: path).isEmpty })
            let leases = try HTTPClient.request(port: server.port, "GET", "/admin/leases").json["items"]?.elements
            #expect(leases?.isEmpty == true, "\(leases ?? [])")
            // The file of another app takes its place.
            #expect(try server.attach(#"{"name":"other","schema":\#(RealmRowTests.item)}"#).status == 201)
            try server.done("POST", "other/objects/Item", #"{"id":7}"#)
            try server.done("DELETE", "other")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: server.folder + "/other.realm", toPath: path)
            let again = try server.attach(#"{"name":"app","path":"\#(path)"}"#)
            #expect(again.status == 201, "\(again.text)")
            #expect(try server.get("app/objects/Item/7").status == 200)
            #expect(try server.get("app/objects/Dog/1").code == "class_not_found")
            let version = try #require(again.json["version"]?.text)
            #expect(version.split(separator: ".").first != position.split(separator: ".").first)
            // What was told of the realm before means nothing here.
            let resumed = try server.get("app/changes?class=Item&since=\(position)").json
            #expect(resumed["reset"]?["reason"]?.text == "epoch", "\(resumed)")
            let follower = try EventClient(
                port: server.port, "/v1/realms/app/changes?class=Item", headers: [("Last-Event-ID", position)])
            #expect(try follower.next("reset").json["reason"]?.text == "epoch")
            #expect(try server.get("app/objects/Item/7", [("Realm-Min-Version", position)]).status == 412)
            #expect([404, 410].contains(try server.get("app/objects/Item?snapshot=\(held)").status))
            #expect([404, 409, 410].contains(try server.send("POST", "app/transactions/\(open)/commit").status))
        }
    }

    /// Two dogs have eight years together at the beginning, and whoever gives one a year takes one from the other.
    @Test func `A4: a hundred mixed requests at once see whole versions, and none fails`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let failures = Mutex<[String]>([])
            let finished = Mutex(0)
            let gate = DispatchSemaphore(value: 0)
            for number in 0..<100 {
                Threads.spawn("client-\(number)") {
                    gate.wait()
                    do {
                        if let failure = try mixedRequest(number, server) { failures.withLock { $0.append(failure) } }
                    } catch { failures.withLock { $0.append("\(number): \(error)") } }
                    finished.withLock { $0 += 1 }
                }
            }
            for _ in 0..<100 { gate.signal() }
            #expect(eventually { finished.withLock { $0 } == 100 })
            #expect(failures.withLock { $0 } == [])
            // Each write is there once: ten gave a year to the first, and ten wrote a dog of their own.
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3 + 10)
            #expect(try server.get("app/objects/Dog/2").json["age"]?.int == 5 - 10)
            #expect(try server.count("Dog") == 12)
        }
    }

    /// One request of ten kinds; returns what is wrong with its answer.
    private func mixedRequest(_ number: Int, _ server: WriteServer) throws -> String? {
        let pair = "where=" + ChangeServer.encode("_id <= 2")
        switch number % 10 {
        case 0:
            let answer = try server.batch(
                #"{"increment":{"class":"Dog","key":"1","property":"age","by":1}}"#,
                #"{"increment":{"class":"Dog","key":"2","property":"age","by":-1}}"#)
            return answer.status == 200 ? nil : answer.text
        case 1:
            let answer = try server.send("PUT", "app/objects/Dog/\(1000 + number)", #"{"age":0}"#)
            return answer.status == 201 ? nil : answer.text
        case 2:
            let answer = try server.get("app/aggregate/Dog?\(pair)&ops=sum:age,count")
            return answer.json["sum:age"]?.int == 8 && answer.json["count"]?.int == 2 ? nil : answer.text
        case 3:
            // All others have no years.
            let lines = try server.get("app/objects/Dog?format=ndjson&meta=none&fields=age").text.split(separator: "\n")
            let sum = try lines.reduce(0) { $0 + (try ParsedJSON(parsing: String($1))["age"]?.int ?? 100) }
            return sum == 8 ? nil : "\(lines)"
        case 4:
            let answer = try server.get("app/schema/Dog")
            return answer.status == 200 ? nil : answer.text
        case 5:
            let answer = try server.get("app/objects/Person/ann?expand=dogs")
            let ages = answer.json["dogs"]?.elements?.compactMap { $0["age"]?.int } ?? []
            return ages.count == 2 && ages.reduce(0, +) == 8 ? nil : answer.text
        case 6:
            let answer = try server.get("app/changes?class=Dog&\(pair)&wait=0")
            let rows = answer.json["snapshots"]?[0]?["items"]?.elements ?? []
            let sum = rows.reduce(0) { $0 + (($1["object"] ?? $1)["age"]?.int ?? 100) }
            return rows.count == 2 && sum == 8 ? nil : answer.text
        default:
            let answer = try server.send("QUERY", "app/objects/Dog", #"{"where":"_id <= 2","fields":["age"]}"#)
            let items = answer.json["items"]?.elements ?? []
            return items.count == 2 && items.reduce(0) { $0 + ($1["age"]?.int ?? 100) } == 8 ? nil : answer.text
        }
    }

    @Test func `A12: a transaction is open until it is committed, is listed while it is, and hinders no other reader`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func leases() throws -> [String?] {
                let items = try HTTPClient.request(port: server.port, "GET", "/admin/leases").json["items"]?.elements ?? []
                return items.filter { $0["kind"]?.text == "transaction" }.map { $0["id"]?.text }
            }
            #expect(try leases() == [])
            let id = try #require(try server.done("POST", "app/transactions", "{}").json["id"]?.text)
            let path = "app/transactions/" + id
            #expect(try server.state(path) == "open" && leases() == [id])
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":40}"#, [("Realm-Transaction", id)])
            #expect(try server.state(path) == "open")
            // Others read what is committed, and write to other realms.
            let before = try server.get("app/objects/Dog/1")
            #expect(before.json["age"]?.int == 3 && before["Realm-Transaction"] == nil)
            #expect(try server.attach(#"{"name":"m","inMemory":"m","schema":\#(RealmRowTests.item)}"#).status == 201)
            #expect(try server.send("POST", "m/objects/Item", #"{"id":1}"#).status == 201)
            try server.done("POST", path + "/commit")
            #expect(try server.state(path) == "committed" && leases() == [])
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 40)
            #expect(try server.state("m/transactions/" + id) == nil)
        }
    }

    @Test func `A13: a realm tells how it was opened, and readers neither its place nor its key`() throws {
        let key = String(repeating: "5e", count: 64)
        try withWriteServer(change: { $0.isInsecure = true }) { (server: WriteServer) throws in
            let members = #""maxActiveVersions":40,"requireIfMatch":["Item"],"defaults":{"Item":{"size":4}}"#
            let schema = #"{"schemaVersion":3,"classes":[{"name":"Item","properties":[{"name":"size","type":"int"}]}]}"#
            let body = #"{"name":"safe","encryptionKey":"\#(key)","schema":\#(schema),\#(members)}"#
            let made = try server.attach(body)
            #expect(made.status == 201, "\(made.text)")
            let facts = try server.get("safe")
            #expect(facts.json["mode"]?.text == "rw" && facts.json["schemaVersion"]?.int == 3)
            #expect(facts.json["encrypted"]?.bool == true && facts.json["path"]?.text?.hasSuffix("/safe.realm") == true)
            let given = try ParsedJSON(parsing: "{\(members)}")
            for member in given.members ?? [] {
                #expect(facts.json["options"]?[member.name]?.canonical == member.value.canonical, "\(member.name)")
            }
            let read = try server.get("safe", RealmRowTests.forwarded)
            #expect(read.status == 200 && read.json["encrypted"]?.bool == true && read.json["schemaVersion"]?.int == 3)
            #expect(read.json["options"] == nil && read.json["path"] == nil)
            #expect(!read.text.contains(server.folder) && !read.text.contains(".realm"), "\(read.text)")
            let list = try HTTPClient.request(port: server.port, "GET", "/v1/realms", headers: RealmRowTests.forwarded)
            #expect(list.json["items"]?.elements?.count == 2 && !list.text.contains(server.folder))
            for answer in [made, facts, read, list] {
                #expect(!answer.text.contains(key) && !answer.text.contains("encryptionKey"), "\(answer.text)")
            }
            try server.done("DELETE", "safe?files=true")
        }
    }

    @Test func `A14: a realm is empty while no class has an object`() throws {
        try withWriteServer(WriteServer.classes) { (server: WriteServer) throws in
            func isEmpty() throws -> Bool? { try server.get("app").json["empty"]?.bool }
            // It has seven classes.
            #expect(try isEmpty() == true)
            try server.done("POST", "app/objects/Note", #"{"text":"n"}"#)
            #expect(try isEmpty() == false)
            try server.done("POST", "app/objects/Dog", #"{"_id":1,"age":1,"chip":{"code":"c"}}"#)
            try server.done("DELETE", "app/objects/Note?where=TRUEPREDICATE")
            #expect(try isEmpty() == false)
            try server.done("DELETE", "app/objects/Dog/1")
            #expect(try isEmpty() == true && server.get("app").json["classes"]?.int == 7)
            try server.done("POST", "app/objects/Note", #"{"text":"n"}"#)
            try server.done("DELETE", "app/objects?confirm=all")
            #expect(try isEmpty() == true)
            #expect(try server.attach(#"{"name":"fresh"}"#).json["empty"]?.bool == true)
        }
    }

    @Test func `A56, A57: realms come into being by POST to their list, and in no other way`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let before = TreeDigest(server.folder)
            for (method, path) in [("PUT", "x"), ("PUT", "app"), ("POST", "x"), ("PATCH", "x"), ("POST", "app")] {
                let answer = try server.send(method, path, #"{"schema":{"classes":[]}}"#)
                #expect(answer.status == 405 && answer.code == "method_not_allowed", "\(method) \(path): \(answer.text)")
                #expect(answer["Allow"]?.contains(method) == false && answer["Allow"]?.contains("DELETE") == true)
            }
            #expect(try server.get("x").code == "realm_not_found")
            #expect(TreeDigest(server.folder).differences(from: before).isEmpty)
            #expect(try server.attach(#"{"name":"x"}"#)["Location"] == "/v1/realms/x")
        }
    }
}
