// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Pages of lists that are sorted by long texts.
@Suite struct LongCursorTests {
    private static let classes = [
        ClassInput(
            "T", primaryKey: "id",
            [PropertyInput("id", "int"), PropertyInput("t", "string"), PropertyInput("n", "int", optional: true)])
    ]

    /// A text that others begin with, behind which `end` decides.
    private static func text(_ end: String, _ count: Int = 5000) -> String { String(repeating: "x", count: count) + end }

    private static func put(_ id: Int, _ text: String, _ server: WriteServer) throws {
        try server.done("PUT", "app/objects/T/\(id)", "{\"id\":\(id),\"t\":\"\(text)\"}")
    }

    /// Reads the pages of a list and returns the ids, from `next` on.
    private static func pages(_ query: String, from next: String = "", _ server: WriteServer) throws -> [Int] {
        var (ids, cursor) = ([Int](), Optional(next))
        while let after = cursor {
            let page = try server.get(
                "app/objects/T?fields=id&meta=none&limit=2&\(query)" + (after.isEmpty ? "" : "&after=\(after)"))
            #expect(page.status == 200 && page.text.utf8.count < 4000, "\(page.text.prefix(300))")
            ids += (page.json["items"]?.elements ?? []).compactMap { $0["id"]?.int }
            cursor = page.json["next"]?.text
            if page.status != 200 { break }
        }
        return ids
    }

    @Test(arguments: ["sort=t", "sort=-t", "sort=n,t", "sort=t&distinct=id", "sort=-t,n&where=id%20%3E%200"])
    func `pages of long texts are short, and have every object once`(query: String) throws {
        try withWriteServer(LongCursorTests.classes) { server in
            for id in 0..<11 { try LongCursorTests.put(id, LongCursorTests.text(["a", "b", "", "b"][id % 4]), server) }
            let all = try server.get("app/objects/T?fields=id&meta=none&limit=100&\(query)")
            let wanted = (all.json["items"]?.elements ?? []).compactMap { $0["id"]?.int }
            #expect(wanted.count >= 10)
            #expect(try LongCursorTests.pages(query, server) == wanted)
        }
    }

    @Test func `a page of lines has a cursor as short as that of a document`() throws {
        try withWriteServer(LongCursorTests.classes) { server in
            for id in 0..<3 { try LongCursorTests.put(id, LongCursorTests.text("\(id)"), server) }
            for format in ["json", "ndjson", "csv"] {
                let page = try server.get("app/objects/T?fields=id&sort=-t&limit=1&format=\(format)")
                #expect(page["Link"].map { $0.utf8.count < 300 } == true, "\(format)")
            }
        }
    }

    /// Where the next page begins is unknown then: to go on at the place of the object would leave out rows, or repeat them.
    @Test func `a cursor without its long values is refused once they have changed, and not before`() throws {
        try withWriteServer(LongCursorTests.classes) { server in
            for id in 0..<6 { try LongCursorTests.put(id, LongCursorTests.text("\(id)"), server) }
            let first = try server.get("app/objects/T?fields=id&limit=2&sort=t")
            let next = try #require(first.json["next"]?.text)
            // Other properties, and other objects, do not matter.
            try server.done("PATCH", "app/objects/T/1", #"{"n":7}"#)
            try LongCursorTests.put(6, LongCursorTests.text("15"), server)
            #expect(try LongCursorTests.pages("sort=t", from: next, server) == [6, 2, 3, 4, 5])
            try LongCursorTests.put(1, LongCursorTests.text("4"), server)
            func refused() throws -> Bool {
                let answer = try server.get("app/objects/T?fields=id&limit=2&sort=t&after=\(next)")
                return answer.status == 400 && answer.code == "cursor_invalid"
            }
            #expect(try refused())
            try LongCursorTests.put(1, LongCursorTests.text("1"), server)
            #expect(try !refused())
            try server.done("DELETE", "app/objects/T/1")
            #expect(try refused())
        }
    }

    @Test func `a cursor with its values goes on after its object is gone`() throws {
        try withWriteServer(LongCursorTests.classes) { server in
            for id in 0..<4 { try LongCursorTests.put(id, LongCursorTests.text("\(id)", 100), server) }
            let next = try #require(try server.get("app/objects/T?fields=id&limit=2&sort=t").json["next"]?.text)
            try server.done("DELETE", "app/objects/T/1")
            #expect(try LongCursorTests.pages("sort=t", from: next, server) == [2, 3])
        }
    }
}
