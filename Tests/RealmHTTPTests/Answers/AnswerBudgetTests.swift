// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Answers have a bound of bytes and of expanded objects: pages end early, single objects are a problem, streams are cut.
@Suite struct AnswerBudgetTests {
    private static let classes = [
        ClassInput(
            "Node", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("text", "string", optional: true),
                PropertyInput("friends", "object", collection: "list", objectType: "Node"),
            ])
    ]

    private func withNodes(
        _ settings: [String], count: Int = 60, textBytes: Int = 1000, _ body: (WriteServer) throws -> Void
    ) throws {
        try withWriteServer(
            AnswerBudgetTests.classes,
            change: { options in
                for setting in settings { try? options.limits.apply(setting) }
            }
        ) { server in
            let text = String(repeating: "x", count: textBytes)
            let objects = (0..<count).map { #"{"id":\#($0),"text":"\#(text)"}"# }
            try server.done("POST", "app/objects/Node", "[\(objects.joined(separator: ","))]")
            try body(server)
        }
    }

    /// The ids of all pages, following `next`, and how many pages there were.
    private func pages(_ server: WriteServer, _ path: String, ids: (ParsedJSON) -> [Int]) throws -> (ids: [Int], pages: Int) {
        var found: [Int] = []
        var pages = 0
        var after: String?
        repeat {
            let separator = path.contains("?") ? "&" : "?"
            let answer = try server.get(path + (after.map { "\(separator)after=\($0)" } ?? ""))
            try #require(answer.status == 200, "\(answer.text.prefix(300))")
            found += ids(answer.json)
            pages += 1
            after = answer.json["next"]?.text
        } while after != nil && pages < 200
        return (found, pages)
    }

    private func items(_ json: ParsedJSON) -> [Int] {
        (json["items"]?.elements ?? []).compactMap { $0["id"]?.int }
    }

    @Test func `a page of objects ends early, and next leads through all rows exactly once`() throws {
        try withNodes(["answer-bytes=10000"]) { server in
            for path in [
                "app/objects/Node?limit=50", "app/objects/Node?limit=50&sort=-id", "app/objects/Node?limit=50&where=id%20%3E%203",
            ] {
                let result = try pages(server, path, ids: items)
                let expected = path.contains("where") ? Array(4..<60) : Array(0..<60)
                #expect(result.ids == (path.contains("sort") ? expected.reversed() : expected), "\(path)")
                #expect(result.pages > 5, "\(path)")
            }
        }
    }

    @Test func `sections and lists of links end early, too`() throws {
        try withNodes(["answer-bytes=10000"]) { server in
            let sections = try pages(server, "app/objects/Node?sectionBy=id:floor(10)&limit=50") { json in
                (json["sections"]?.elements ?? []).flatMap { items($0) }
            }
            #expect(sections.ids == Array(0..<60))
            #expect(sections.pages > 5)
            let keys = (0..<60).map { #"{"$link":{"class":"Node","key":"\#($0)"}}"# }
            try server.done("PATCH", "app/objects/Node/1", #"{"friends":[\#(keys.joined(separator: ","))]}"#)
            let friends = try pages(server, "app/objects/Node/1/friends?limit=50&fields=id,text", ids: items)
            #expect(friends.ids == Array(0..<60))
            #expect(friends.pages > 5)
        }
    }

    @Test func `lines with a limit end early with a link to the rest`() throws {
        try withNodes(["answer-bytes=10000"]) { server in
            for format in ["csv", "ndjson"] {
                let answer = try server.get("app/objects/Node?limit=50&format=\(format)")
                #expect(answer.status == 200)
                #expect(answer.body.count <= 10_000)
                #expect(answer["Link"]?.contains("after=") == true)
            }
        }
    }

    @Test func `one object that is too large is a problem that names the limit`() throws {
        try withNodes(["answer-bytes=1024"], count: 2, textBytes: 3000) { server in
            for path in ["app/objects/Node/1", "app/objects/Node", "app/objects/Node/1/text", "app/objects/Node?at=0"] {
                let answer = try server.get(path)
                #expect(answer.status == 422, "\(path)")
                #expect(answer.code == "answer_too_large", "\(path)")
                #expect(answer.json["limitName"]?.text == "answer-bytes", "\(path)")
                #expect(answer.json["limit"]?.int == 1024, "\(path)")
            }
        }
    }

    @Test func `a query that orders itself has no cursor, so its page does not end early`() throws {
        try withNodes(["answer-bytes=10000"]) { server in
            let answer = try server.get("app/objects/Node?limit=50&where=TRUEPREDICATE%20SORT(id%20DESC)")
            #expect(answer.code == "answer_too_large")
        }
    }

    @Test func `streams are cut at a row that is too large, and have no bound in all`() throws {
        try withNodes(["answer-bytes=4096"], count: 40) { server in
            let all = try server.get("app/objects/Node?format=ndjson")
            #expect(all.isComplete)
            #expect(all.text.split(separator: "\n").count == 40)
            try server.done(
                "PATCH", "app/objects/Node/39", #"{"text":"\#(String(repeating: "y", count: 9000))"}"#,
                [("Prefer", "return=minimal")])
            for path in ["app/objects/Node?format=ndjson", "app/objects/Node?format=csv", "app/export"] {
                let cut = try? server.get(path)
                #expect(cut?.isComplete != true, "\(path)")
            }
        }
    }

    @Test func `expanded objects are counted in an answer`() throws {
        try withNodes(["expanded-objects=100"], count: 30, textBytes: 1) { server in
            let keys = (0..<30).map { #"{"$link":{"class":"Node","key":"\#($0)"}}"# }.joined(separator: ",")
            let changes = (0..<30).map { #"{"patch":{"class":"Node","key":"\#($0)","body":{"friends":[\#(keys)]}}}"# }
            try server.done("POST", "app/batch", #"{"ops":[\#(changes.joined(separator: ","))]}"#)
            let one = try server.get("app/objects/Node/1?expand=friends.friends")
            #expect(one.status == 422)
            #expect(one.code == "answer_too_large")
            #expect(one.json["limitName"]?.text == "expanded-objects")
            let result = try pages(server, "app/objects/Node?limit=30&expand=friends", ids: items)
            #expect(result.ids == Array(0..<30))
            #expect(result.pages == 10)
            #expect(try server.get("app/objects/Node/1?fields=friends.friends.id").code == "answer_too_large")
            #expect(try server.get("app/objects/Node?limit=2&fields=id,friends.id").status == 200)
        }
    }

    /// A batch that makes a person with a long key and names it so often.
    private func naming(_ id: String, times count: Int) -> String {
        let again = Array(repeating: #"{"assert":{"class":"Person","key":{"ref":"c"}}}"#, count: count)
        let first = #"{"create":{"as":"c","class":"Person","body":{"id":"\#(id)"}}}"#
        return #"{"ops":[\#(([first] + again).joined(separator: ","))]}"#
    }

    @Test func `a batch whose results are too long is refused before it is committed`() throws {
        try withWriteServer(change: { try? $0.limits.apply("answer-bytes=10000") }) { server in
            let key = String(repeating: "k", count: 1000)
            let count = { try server.get("app/objects/Person?limit=0&count=exact").json["count"]?.int }
            let before = try count()
            let long = naming(key, times: 50)
            for (query, headers) in [("", []), ("?dryRun=true", []), ("", [("Prefer", "return=minimal")])] {
                let answer = try server.send("POST", "app/batch" + query, long, headers)
                #expect(answer.status == 422 && answer.code == "answer_too_large", "\(answer.text)")
                #expect(answer.json["limitName"]?.text == "answer-bytes" && answer.json["limit"]?.int == 10_000)
            }
            let later = try server.send("POST", "app/batch", long, WriteServer.later)
            let fate = try server.fate(String((later["Location"] ?? "").dropFirst("/v1/realms/".count)))
            #expect(fate["state"]?.text == "failed" && fate["problem"]?["code"]?.text == "answer_too_large")
            let id = try server.done("POST", "app/transactions", "{}").json["id"]?.text ?? ""
            #expect(try server.send("POST", "app/batch", long, [("Realm-Transaction", id)]).code == "answer_too_large")
            #expect(try count() == before)
            #expect(try server.done("POST", "app/batch", naming(key, times: 5)).status == 200)
        }
    }

    @Test func `keys of deleted objects, and of many that are made, are counted in an answer`() throws {
        try withWriteServer(change: { try? $0.limits.apply("answer-bytes=10000") }) { server in
            let keys = (0..<20).map { String(repeating: "k", count: 1000) + "\($0)" }
            let count = { try server.get("app/objects/Person?limit=0&count=exact").json["count"]?.int ?? 0 }
            let before = try count()
            let bodies = keys.map { #"{"id":"\#($0)"}"# }
            #expect(
                try server.send("POST", "app/objects/Person", "[\(bodies.joined(separator: ","))]").code == "answer_too_large")
            #expect(try count() == before)
            for body in bodies { try server.done("POST", "app/objects/Person", body) }
            let batch = { (word: String, last: String) in
                let operations = keys.map { #"{"\#(word)":{"class":"Person","key":"\#($0)"}}"# }
                return #"{"ops":[\#((operations + [last]).joined(separator: ","))]}"#
            }
            let none = #"{"assert":{"class":"Person","count":0,"where":"id == 'none'"}}"#
            #expect(try server.send("POST", "app/batch", batch("delete", none)).code == "answer_too_large")
            let all = #"{"deleteWhere":{"class":"Person","where":"id BEGINSWITH 'k'"}}"#
            #expect(try server.send("POST", "app/batch", batch("assert", all)).code == "answer_too_large")
            #expect(try count() == before + 20)
        }
    }

    @Test
    func `a write reserves memory for a long answer before its commit, and is answered without its document where that is full`()
        throws
    {
        try withWriteServer(change: { $0.limits.http.unsentBytes = 100_000 }) { server in
            let note = { (byteCount: Int) in #"{"text":"\#(String(repeating: "x", count: byteCount))"}"# }
            let count = { try server.get("app/objects/Note?limit=0&count=exact").json["count"]?.int ?? 0 }
            let before = try count()
            let refused = try server.send("POST", "app/objects/Note", note(3_000_000))
            #expect(refused.status == 503 && refused.code == "overloaded", "\(refused.text.prefix(300))")
            #expect(refused.json["limitName"]?.text == "unsent-bytes")
            #expect(try count() == before)
            let made = try server.send("POST", "app/objects/Note", note(200_000))
            #expect(made.status == 201 && made.body.isEmpty && made["Content-Type"] == nil, "\(made.text.prefix(300))")
            let location = try #require(made["Location"])
            #expect(made["Realm-Version"] != nil && made["ETag"] != nil && made["Retry-After"] == nil)
            #expect(try count() == before + 1)
            let changed = try server.send("PATCH", String(location.dropFirst("/v1/realms/".count)), note(150_000))
            #expect(changed.status == 204 && changed["Realm-Version"] != nil && changed["ETag"] != nil)
        }
    }
}
