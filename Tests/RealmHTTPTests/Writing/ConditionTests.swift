// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Synchronization
import Testing

/// Conditions, repetitions, and waiting for versions. Features A42, A45.
@Suite struct ConditionTests {
    @Test func `If-Match lets the one through that saw the object as it is`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let tag = try server.get("app/objects/Dog/1")["ETag"] ?? ""
            // Another representation of the same state has the same meaning.
            let other = tag.replacingOccurrences(of: "~j1", with: "~e1z")
            let first = try server.send("PATCH", "app/objects/Dog/1", #"{"age":8}"#, [("If-Match", "\"none\", \(other)")])
            #expect(first.status == 200)
            let second = try server.send("PATCH", "app/objects/Dog/1", #"{"age":9}"#, [("If-Match", tag)])
            #expect(second.status == 412)
            let current = second.json["current"]
            #expect(current?["age"]?.int == 8)
            #expect(current?["$meta"]?["etag"]?.text == first["ETag"])
            let third = try server.send("DELETE", "app/objects/Dog/1", nil, [("If-Match", first["ETag"] ?? "")])
            #expect(third.status == 204)
            let gone = try server.send("PUT", "app/objects/Dog/1", #"{"age":9}"#, [("If-Match", "*")])
            #expect(gone.status == 412)
            #expect(gone.json["current"] == .null)
            #expect(try server.send("PUT", "app/objects/Dog/1", #"{"age":9}"#, [("If-None-Match", "*")]).status == 201)
        }
    }

    @Test func `the version form means that nobody has committed since`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let version = try server.get("app")["Realm-Version"] ?? ""
            let tag = "\"v.\(version)\""
            #expect(
                try server.send(
                    "POST", "app/batch", #"{"ops":[{"increment":{"class":"Dog","key":"1","property":"age","by":1}}]}"#,
                    [("If-Match", tag)]
                ).status == 200)
            let stale = try server.send("PATCH", "app/objects/Dog/1", #"{"age":1}"#, [("If-Match", tag)])
            #expect(stale.status == 412)
            #expect(stale.json["current"]?["age"]?.int == 4)
            #expect(try server.send("DELETE", "app/objects/Dog?where=TRUEPREDICATE", nil, [("If-Match", tag)]).status == 412)
            let list = try server.get("app/objects/Dog")["ETag"] ?? ""
            #expect(try server.send("DELETE", "app/objects/Dog?where=_id==2", nil, [("If-Match", list)]).status == 200)
        }
    }

    /// The version was compared with the state of the object, which it never equals.
    @Test func `one of several entity tags suffices, be it the version or the state`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let requests = [
                ("PATCH", "app/objects/Dog/1", #"{"age":8}"#), ("PUT", "app/objects/Dog/1/age", "9"),
                ("PUT", "app/objects/Dog/1", #"{"age":10}"#), ("PATCH", "app/objects/Dog?where=_id==1", #"{"age":11}"#),
                ("POST", "app/objects/Dog?upsert=all", #"{"_id":1,"age":12}"#),
                ("POST", "app/objects/Dog?upsert=all", #"[{"_id":1,"age":13}]"#),
                ("POST", "app/batch", #"{"ops":[{"increment":{"class":"Dog","key":"1","property":"age","by":1}}]}"#),
                ("DELETE", "app/objects/Dog/1?dryRun=true", ""), ("DELETE", "app/objects/Dog?where=_id==1&dryRun=true", ""),
                ("POST", "app/compact", ""), ("POST", "app/transactions", "{}"),
            ]
            for (index, (method, path, body)) in requests.enumerated() {
                let version = try server.get("app")["Realm-Version"] ?? ""
                let parts = version.split(separator: "." as Character)
                let tag = try server.get("app/objects/Dog/1")["ETag"] ?? ""
                let send = { (condition: String) in
                    try server.send(method, path, body.isEmpty ? nil : body, [("If-Match", condition)])
                }
                for wrong in [
                    #""x", "v.\#(parts[0]).1""#, #""v.zzzzzzzz.\#(parts[1])", "x""#, #""x", "y""#,
                    #""v.\#(parts[0]).+\#(parts[1])", "x""#, #""v.\#(parts[0]).0\#(parts[1])""#,
                ] {
                    let answer = try send(wrong)
                    #expect(answer.status == 412, "\(method) \(path) \(wrong): \(answer.text)")
                }
                var lists = [#""v.\#(version)", "x""#, #""x", "v.\#(version)""#, #""v.\#(parts[0]).1", "v.\#(version)""#]
                if path.contains("Dog/1") { lists += [#""v.\#(parts[0]).1", \#(tag)"#, #"\#(tag), "v.\#(version)""#] }
                // Others commit, so that one list is right.
                for condition in path.hasSuffix("dryRun=true") ? lists : [lists[index % lists.count]] {
                    let answer = try send(condition)
                    #expect((200..<300).contains(answer.status), "\(method) \(path) \(condition): \(answer.text)")
                    if let id = answer.json["id"]?.text, path.hasSuffix("transactions") {
                        try server.send("POST", "app/transactions/\(id)/rollback")
                    }
                }
            }
        }
    }

    /// It was compared inside of transactions alone.
    @Test func `an operation of a batch may demand a version, alone or in a list`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let old = try server.get("app")["Realm-Version"] ?? ""
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":8}"#).status == 200)
            let new = try server.get("app")["Realm-Version"] ?? ""
            let send = { (condition: String) in
                let text = condition.replacing("\"", with: "\\\"")
                return try server.send(
                    "POST", "app/batch?dryRun=true",
                    #"{"ops":[{"patch":{"class":"Dog","key":"1","ifMatch":"\#(text)","body":{"age":1}}}]}"#)
            }
            for (condition, status) in [
                (#""v.\#(old)""#, 412), (#""v.\#(new)""#, 200), (#""v.\#(old)", "x""#, 412), (#""x", "v.\#(new)""#, 200),
            ] {
                let answer = try send(condition)
                #expect(answer.status == status, "\(condition): \(answer.text)")
            }
        }
    }

    @Test func `a repeated request gets the first answer`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let key = [("Idempotency-Key", "k1")]
            let first = try server.send("POST", "app/objects/Note", #"{"text":"once"}"#, key)
            let again = try server.send("POST", "app/objects/Note", #"{"text":"once"}"#, key)
            #expect(first.status == 201 && again.status == 201)
            #expect(again.text == first.text)
            #expect(again["Location"] == first["Location"])
            #expect(again["ETag"] == first["ETag"])
            #expect(again["Idempotency-Replayed"] == "true")
            #expect(first["Idempotency-Replayed"] == nil)
            #expect(try server.get("app/objects/Note?count=exact").json["count"]?.int == 2)
            #expect(try server.send("POST", "app/objects/Note", "{", key).code == "idempotency_key_reused")
            #expect(try server.send("POST", "app/batch", #"{"ops":[]}"#, key).code == "idempotency_key_reused")
            // Errors are answers too.
            let bad = try server.send("POST", "app/objects/Note", "{}", [("Idempotency-Key", "k2")])
            let badAgain = try server.send("POST", "app/objects/Note", "{}", [("Idempotency-Key", "k2")])
            #expect(bad.code == "missing_property" && badAgain.code == "missing_property")
            #expect(badAgain["Idempotency-Replayed"] == "true")
        }
    }

    @Test func `while the first request runs, its key is taken; what may be tried again is not kept`() throws {
        let server = try WriteServer { $0.limits.writeSeconds = 1 }
        try server.fill()
        let id = try server.send("POST", "app/transactions", "{}").json["id"]?.text ?? ""
        let key = [("Idempotency-Key", "k")]
        let statuses = Mutex<[Int]>([])
        let first = Thread {
            let answer = try? server.send("POST", "app/objects/Note", #"{"text":"t"}"#, key)
            statuses.withLock { $0.append(answer?.status ?? 0) }
        }
        first.start()
        #expect(try eventually { try server.database().pendingWrites == 1 })
        #expect(try server.send("POST", "app/objects/Note", #"{"text":"t"}"#, key).code == "idempotency_in_progress")
        let metrics = try ServerMetrics(port: server.port)
        #expect(metrics["pending_writes{realm=\"app\"}"] == 1)
        #expect(metrics["open_transactions{realm=\"app\"}"] == 1)
        #expect(eventually { statuses.withLock { !$0.isEmpty } })
        #expect(statuses.withLock { $0 } == [423])
        #expect(try server.send("DELETE", "app/transactions/\(id)").status == 204)
        let second = try server.send("POST", "app/objects/Note", #"{"text":"t"}"#, key)
        #expect(second.status == 201)
        #expect(second["Idempotency-Replayed"] == nil)
        try server.finish()
    }

    @Test func `A45: a read can wait for a version`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let version = try server.get("app")["Realm-Version"] ?? ""
            let parts = version.split(separator: ".")
            let next = "\(parts[0]).\(WriteServer.number(version) + 1)"
            #expect(try server.get("app/objects/Dog/1", [("Realm-Min-Version", version)]).status == 200)
            #expect(try server.get("app/objects/Dog/1", [("Realm-Min-Version", "aaaaaaaa.1")]).code == "precondition_failed")
            let writer = Thread {
                Thread.sleep(forTimeInterval: 0.1)
                _ = try? server.send("PATCH", "app/objects/Dog/1", #"{"age":77}"#)
            }
            writer.start()
            let read = try server.get("app/objects/Dog/1", [("Realm-Min-Version", next)])
            #expect(read.status == 200)
            #expect(read.json["age"]?.int == 77)
        }
    }

    @Test func `a version that does not come is told at the deadline`() throws {
        let server = try WriteServer { $0.limits.readSeconds = 1 }
        let version = try server.get("app")["Realm-Version"] ?? ""
        let never = version.split(separator: ".")[0] + ".999"
        #expect(try server.get("app/objects/Dog", [("Realm-Min-Version", String(never))]).code == "precondition_failed")
        try server.finish()
    }
}
