// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Synchronization
import Testing

/// Rows A24 to A32 of the checklist: writes that are done when they are answered.
@Suite struct TransactionRowTests {
    private func begin(_ server: WriteServer, _ body: String = "{}") throws -> (id: String, header: [(String, String)]) {
        let answer = try server.done("POST", "app/transactions", body)
        let id = answer.json["id"]?.text ?? ""
        return (id, [("Realm-Transaction", id)])
    }

    @Test func `A24: there is one writer: a second transaction waits or is told to come later, none begins inside another`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let (id, header) = try begin(server)
            let busy = try server.send("POST", "app/transactions", #"{"wait":"0s"}"#)
            #expect(busy.status == 423 && busy.code == "write_lock_busy" && busy["Retry-After"] != nil)
            #expect(try server.send("POST", "app/transactions", "{}", header).code == "transaction_busy")
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":50}"#, header)
            let second = Awaited<HTTPClient.Answer?>()
            Threads.spawn("second") { second.set(try? server.send("POST", "app/transactions", #"{"wait":"10s"}"#)) }
            let commit = try server.done("POST", "app/transactions/\(id)/commit")
            let next = try #require(try second.wait())
            #expect(next.status == 201)
            // It begins with the newest version.
            #expect(next.json["version"]?.text == commit.json["version"]?.text)
            let inside = [("Realm-Transaction", next.json["id"]?.text ?? "")]
            #expect(try server.get("app/objects/Dog/1", inside).json["age"]?.int == 50)
            try server.done("DELETE", "app/transactions/\(inside[0].1)")
            #expect(try server.batch(#"{"assert":{"class":"Dog","key":"1","where":"age == 50"}}"#).status == 200)
        }
    }

    @Test func `A25: a commit makes one version more, and it is in the file when it is answered`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let before = try server.version()
            let (id, header) = try begin(server)
            for age in 10..<20 { try server.done("PATCH", "app/objects/Dog/1", #"{"age":\#(age)}"#, header) }
            let commit = try server.done("POST", "app/transactions/\(id)/commit")
            #expect(WriteServer.number(commit.json["version"]?.text) == before + 1)
            #expect(try server.version() == before + 1)
            // What a server that dies now would leave.
            let copy = server.folder + "/left.realm"
            try server.bytes().write(to: URL(fileURLWithPath: copy))
            #expect(try RealmEngineReader.age(copy) == 19)
        }
    }

    @Test(arguments: [28, 122, 27] as [Int32])
    func `A26: a commit that fails for want of room is 507, nothing of it is there, and the next one goes on`(_ errno: Int32)
        throws
    {
        try withFaultyRealm { server, backend, database in
            let before = database.current.tokenText
            backend.resetCounts()
            backend.failing = (.extend, 0, errno)
            let large = #"{"text":""# + String(repeating: "x", count: 4 << 20) + #""}"#
            let answer = try server.send("POST", "faulty/objects/Note", large)
            #expect(answer.status == 507 && answer.code == "insufficient_storage", "\(answer.text)")
            #expect(backend.failureCount == 1 && database.current.tokenText == before)
            #expect(try server.get("faulty/objects/Note?count=exact").json["count"]?.int == 0)
            #expect(try server.send("POST", "faulty/objects/Note", large, [("Prefer", "return=minimal")]).status == 201)
            #expect(try server.get("faulty/objects/Note?count=exact&limit=0").json["count"]?.int == 1)
        }
    }

    @Test func `A28: what is rolled back was never there: objects, version, and nobody is told`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let before = (try server.get("app/export").text, try server.version(), try server.bytes())
            let (id, header) = try begin(server)
            try server.done("POST", "app/objects/Dog", #"{"_id":9,"age":1}"#, header)
            try server.done("DELETE", "app/objects/Dog/1", nil, header)
            #expect(try server.get("app/objects/Dog/9", header).status == 200)
            try server.done("DELETE", "app/transactions/\(id)")
            #expect(try server.get("app/objects/Dog/9").status == 404)
            let after = (try server.get("app/export").text, try server.version(), try server.bytes())
            #expect(after == before)
            #expect(recorder.commitCount == 0)
        }
    }

    @Test func `A29: a batch is all or nothing`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let good = [
                #"{"create":{"class":"Dog","body":{"_id":9,"age":1}}}"#,
                #"{"increment":{"class":"Dog","key":"1","property":"age","by":1}}"#,
            ]
            let failed = try server.batch(good[0], good[1], #"{"delete":{"class":"Dog","key":"77"}}"#)
            #expect(failed.status == 404)
            #expect(try server.get("app/objects/Dog/9").status == 404)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
            #expect(try server.bytes() == bytes)
            let before = try server.version()
            #expect(try server.batch(good[0], good[1], #"{"delete":{"class":"Dog","key":"2"}}"#).status == 200)
            #expect(try server.version() == before + 1)
            #expect(try server.count("Dog") == 2)
        }
    }

    @Test(arguments: [
        (#"{"delete":{"class":"Dog","key":"77"}}"#, 404, "object_not_found"),
        (#"{"create":{"class":"Dog","body":{"_id":1,"age":1}}}"#, 409, "duplicate_key"),
        (#"{"patch":{"class":"Dog","key":"1","body":{"age":"x"}}}"#, 422, "type_mismatch"),
        (#"{"deleteWhere":{"class":"Dog","where":"age >"}}"#, 400, "invalid_query"),
    ])
    func `A30: a failed batch answers the status of the operation that failed, and its index`(
        _ operation: String, _ status: Int, _ code: String
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            for index in 0..<3 {
                let padding = Array(repeating: #"{"assert":{"class":"Dog","key":"1"}}"#, count: index)
                let body = (padding + [operation] + padding).joined(separator: ",")
                let answer = try server.send("POST", "app/batch", #"{"ops":[\#(body)]}"#)
                #expect(answer.status == status && answer.code == code, "\(answer.text)")
                #expect(answer.json["op"]?.int == index)
            }
        }
    }

    @Test(arguments: ["s_1", "s_1/dogs", "s_1, s_2/x"])
    func `A31: a batch that names subscriptions to be skipped is refused when there never was one of that name`(_ names: String)
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let answer = try server.batch(
                #"{"delete":{"class":"Dog","key":"1"}}"#, headers: [("Realm-Without-Notifying", names)])
            #expect(answer.status == 400 && answer.code == "invalid_parameter", "\(answer.text)")
            #expect(answer.json["header"]?.text == "Realm-Without-Notifying")
            #expect(try server.bytes() == bytes)
            let (id, header) = try begin(server)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":50}"#, header)
            #expect(
                try server.send("POST", "app/transactions/\(id)/commit", nil, [("Realm-Without-Notifying", names)]).status == 400)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
        }
    }

    @Test func `A32: a failed batch is told to nobody, so it uses up no skip; the next one is told`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let change = #"{"patch":{"class":"Dog","key":"1","body":{"age":7}}}"#
            #expect(try server.batch(change, #"{"assert":{"class":"Dog","key":"9"}}"#).status == 409)
            #expect(recorder.commitCount == 0)
            #expect(try server.batch(change, headers: [("Realm-Without-Notifying", "")]).status == 200)
            #expect(recorder.commitCount == 1)
            #expect(recorder.takeProperties() == ["Dog.age: 3 -> 7"])
        }
    }

    @Test func `A35: a transaction that nobody ends is rolled back when its lease is over`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let (id, header) = try begin(server, #"{"idle":"1s"}"#)
            _ = try server.send("PATCH", "app/objects/Dog/1", #"{"age":50}"#, header)
            #expect(try eventually { try server.state("app/transactions/\(id)") == "expired" })
            #expect(try server.bytes() == bytes)
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
            #expect(try server.send("POST", "app/transactions/\(id)/commit").code == "transaction_expired")
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":51}"#)
        }
    }
}

/// Runs a test with a realm called `faulty` beside the usual one, on a file whose calls fail when they are told to.
func withFaultyRealm(_ body: (WriteServer, FaultBackend, Database) throws -> Void) throws {
    try withWriteServer(change: { $0.limits.bodyBytes = 64 << 20 }) { server in
        let backend = try FaultBackend()
        let name = try #require(RealmName("faulty"))
        let database = Database.open(name: name, store: try FileStore(backend))
        let made = Awaited<Bool>()
        database.write(
            EngineRealm.request(),
            { session in
                try session.createSchema(SchemaInput(classes: [ClassInput("Note", [PropertyInput("text", "string")])]))
            }, completion: { made.set((try? $0.get()) != nil) })
        #expect(try made.wait())
        try server.server.state.catalog.reserve(name)
        try server.server.state.catalog.settle(name, .ready(database))
        try body(server, backend, database)
        backend.failing = nil
        #expect(database.current.snapshot.verify().isClean)
    }
}
