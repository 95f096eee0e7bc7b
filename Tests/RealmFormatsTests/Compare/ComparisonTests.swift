// SPDX-License-Identifier: Apache-2.0

import RealmEngine
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Comparisons by example: the lines, the pairs of objects without a primary key, the forms of the output.
@Suite struct ComparisonTests {
    private static let dogs = [
        ClassInput(
            "Dog", primaryKey: "id",
            [PropertyInput("id", "int"), PropertyInput("name", "string"), PropertyInput("chip", "object", objectType: "Chip")]),
        ClassInput("Chip", [PropertyInput("text", "string"), PropertyInput("next", "object", objectType: "Chip")]),
    ]

    /// A realm with objects that a closure makes.
    private func realm(
        _ classes: [ClassInput] = dogs, _ body: @escaping @Sendable (WriteSession) throws -> Void
    ) throws -> EngineRealm {
        let realm = try EngineRealm(classes)
        try realm.write { session in try body(session) }
        return realm
    }

    private func text(
        _ old: EngineRealm, _ new: EngineRealm, _ format: ComparisonFormat,
        _ options: ComparisonOptions = ComparisonOptions(identity: .contents)
    ) throws -> String {
        let stream = try ComparisonStream(
            from: ComparedVersion(old.database.current.snapshot, file: "a<b.realm"),
            to: ComparedVersion(new.database.current.snapshot, file: "c.realm"), options, format: format)
        var bytes: [UInt8] = []
        try stream.forEachChunk { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func dog(_ id: Int64, _ name: String) -> InputObject { ["id": .integer(id), "name": .text(name)] }

    @Test func `lines have the key, and the former and new values of what differs`() throws {
        let old = try realm { session in
            for (id, name) in [(1, "Rex"), (2, "Ada"), (3, "Bo")] { _ = try session.create("Dog", Self.dog(Int64(id), name)) }
        }
        let new = try realm { session in
            for (id, name) in [(4, "Zoe"), (3, "Bo"), (2, "Eva")] { _ = try session.create("Dog", Self.dog(Int64(id), name)) }
        }
        let versions = (old.database.current.snapshot.version, new.database.current.snapshot.version)
        #expect(
            try text(old, new, .ndjson) == """
                {"$begin":{"comparison":1,"from":{"file":"a<b.realm","version":"\(versions.0)","format":24,"schemaVersion":0},\
                "to":{"file":"c.realm","version":"\(versions.1)","format":24,"schemaVersion":0},"withoutPrimaryKey":"contents"}}
                {"kind":"removed","class":"Dog","key":"1","from":{"id":1,"name":"Rex","chip":null}}
                {"kind":"added","class":"Dog","key":"4","to":{"id":4,"name":"Zoe","chip":null}}
                {"kind":"changed","class":"Dog","key":"2","from":{"name":"Ada"},"to":{"name":"Eva"}}
                {"$end":{"equal":false,"schema":0,"added":1,"removed":1,"changed":1,"classes":{"Dog":{"added":1,"removed":1,"changed":1}}}}

                """)
        #expect(
            try text(old, new, .text) == """
                --- a<b.realm (version \(versions.0))
                +++ c.realm (version \(versions.1))
                - Dog 1
                    chip: null
                    id: 1
                    name: "Rex"
                + Dog 4
                    chip: null
                    id: 4
                    name: "Zoe"
                ~ Dog 2
                    name: "Ada" -> "Eva"
                Dog: 1 added, 1 removed, 1 changed

                """)
        #expect(try text(old, old, .text) == "")
        let document = try JSONParser.parse(try text(old, new, .json), depthLimit: 64)
        #expect(document.object?["differences"]?.array?.count == 3)
        #expect(document.object?["$end"]?.object?["equal"] == .bool(false))
        for one in [old, new] { try one.finish() }
    }

    /// Object keys lead to other objects then, and primary keys are looked up. Leaves with the same keys are compared as a whole.
    @Test(arguments: [false, true])
    func `the order in which objects were created is no difference`(_ isReversed: Bool) throws {
        func realm(_ ids: [Int], _ change: @escaping @Sendable (WriteSession) throws -> Void) throws -> EngineRealm {
            try self.realm { session in
                for id in ids { _ = try session.create("Dog", Self.dog(Int64(id), "dog \(id % 7)")) }
                try change(session)
            }
        }
        let ids = Array(0..<1200)
        let old = try realm(ids) { _ in }
        let new = try realm(isReversed ? ids.reversed() : ids) { session in
            _ = try session.delete("Dog", .text("700"))
            try session.setProperty("Dog", .text("1000"), "name", .text("Rex"))
            _ = try session.create("Dog", Self.dog(5000, "new"))
        }
        for options in [ComparisonOptions(identity: .contents), ComparisonOptions(identity: .objectKey)] {
            let list = try DifferenceList(old.database.current.snapshot, new.database.current.snapshot, options)
            let found = list.lines.map { "\($0["kind"]?.string ?? "") \($0["key"]?.string ?? "")" }.sorted()
            #expect(found == ["added 5000", "changed 1000", "removed 700"])
        }
        for one in [old, new] { try one.finish() }
    }

    @Test func `texts are no markup, and the page has a row for each value`() throws {
        let old = try realm { session in _ = try session.create("Dog", Self.dog(1, "<script>alert(1)</script>&")) }
        let new = try realm { session in _ = try session.create("Dog", Self.dog(1, "\"quoted\"")) }
        let page = try text(old, new, .html)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
        #expect(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;"))
        #expect(page.contains("a&lt;b.realm"))
        #expect(page.contains("<tr class=\"changed\"><td>changed</td><td>1</td><td>name</td>"))
        #expect(try text(old, old, .html).contains("No differences."))
        for one in [old, new] { try one.finish() }
    }

    @Test func `objects without a primary key are examples of their values`() throws {
        func realm(_ texts: [String]) throws -> EngineRealm {
            try self.realm { session in for text in texts { _ = try session.create("Chip", ["text": .text(text)]) } }
        }
        let (old, new) = (try realm(["a", "b", "b", "c"]), try realm(["c", "b", "d", "a"]))
        let list = try DifferenceList(
            old.database.current.snapshot, new.database.current.snapshot, ComparisonOptions(identity: .contents))
        #expect(list.lines.map { $0["kind"]?.string } == ["removed", "added"])
        #expect(list.lines[0]["from"]?.object?["text"] == .string("b"))
        #expect(list.lines[1]["to"]?.object?["text"] == .string("d"))
        #expect(list.begin["withoutPrimaryKey"] == .string("contents"))
        for one in [old, new] { try one.finish() }
    }

    @Test func `a link to an object without a primary key is one to its contents, and to those of its targets`() throws {
        /// A chain of chips that a dog leads to, in one order of creation or the other.
        func realm(_ texts: [String], isReversed: Bool) throws -> EngineRealm {
            try self.realm { session in
                for position in isReversed ? Array(texts.indices.reversed()) : Array(texts.indices) {
                    _ = try session.create("Chip", ["text": .text(texts[position])], as: "chip\(position)")
                }
                for position in texts.indices.dropLast() {
                    let place = try session.require(.reference("chip\(position)"), class: "Chip")
                    try session.setProperty(
                        try session.property("next", of: place), of: place, to: .link(.reference("chip\(position + 1)")))
                }
                _ = try session.create("Dog", ["id": .integer(1), "name": .text(""), "chip": .link(.reference("chip0"))])
            }
        }
        let contents = ComparisonOptions(identity: .contents)
        let chain = ["a", "b", "c", "b", "d"]
        let (old, same) = (try realm(chain, isReversed: false), try realm(chain, isReversed: true))
        let other = try realm(["a", "b", "c", "b", "e"], isReversed: true)
        #expect(
            try DifferenceList(old.database.current.snapshot, same.database.current.snapshot, contents).lines.isEmpty)
        // The last chip is another one, so each that leads to it is, and the dog is changed.
        let list = try DifferenceList(old.database.current.snapshot, other.database.current.snapshot, contents)
        #expect(list.lines.map { $0["kind"]?.string }.filter { $0 == "changed" }.count == 1)
        #expect(list.lines.count == 11)
        for one in [old, same, other] { try one.finish() }
    }

    @Test func `circles of links end, and are equal if all of their objects are`() throws {
        func realm(_ text: String) throws -> EngineRealm {
            try self.realm { session in
                for position in 0..<3 {
                    _ = try session.create("Chip", ["text": .text(position == 2 ? text : "x")], as: "chip\(position)")
                }
                for position in 0..<3 {
                    let place = try session.require(.reference("chip\(position)"), class: "Chip")
                    try session.setProperty(
                        try session.property("next", of: place), of: place, to: .link(.reference("chip\((position + 1) % 3)")))
                }
                let own = try session.create("Chip", ["text": .text("own")], as: "own").place
                try session.setProperty(try session.property("next", of: own), of: own, to: .link(.reference("own")))
            }
        }
        let contents = ComparisonOptions(identity: .contents)
        let (old, same, other) = (try realm("x"), try realm("x"), try realm("y"))
        #expect(
            try DifferenceList(old.database.current.snapshot, same.database.current.snapshot, contents).lines.isEmpty)
        let list = try DifferenceList(old.database.current.snapshot, other.database.current.snapshot, contents)
        #expect(list.lines.count == 6 && list.end["removed"] == .integer(3))
        for one in [old, same, other] { try one.finish() }
    }

    @Test func `a class that is not compared is left out, and an unknown one is a problem`() throws {
        let old = try realm { session in _ = try session.create("Dog", Self.dog(1, "Rex")) }
        let new = try realm { session in _ = try session.create("Chip", ["text": .text("a")]) }
        func list(_ classes: [String]) throws -> DifferenceList {
            try DifferenceList(
                old.database.current.snapshot, new.database.current.snapshot,
                ComparisonOptions(identity: .objectKey, classes: classes))
        }
        #expect(try list(["Dog"]).lines.map { $0["class"]?.string } == ["Dog"])
        #expect(try list(["Chip"]).lines.map { $0["class"]?.string } == ["Chip"])
        #expect(throws: Problem.self) { try list(["Dig"]) }
        for one in [old, new] { try one.finish() }
    }

    @Test func `properties and classes of one version are differences of the schema, and their default values are none`() throws {
        let old = try realm { session in
            for id in 1..<3 { _ = try session.create("Dog", Self.dog(Int64(id), "Rex")) }
        }
        let new = try realm { session in
            for id in 1..<3 { _ = try session.create("Dog", Self.dog(Int64(id), "Rex")) }
        }
        try new.write { session in
            _ = try session.migrate(
                Migration(from: 0, to: 1, [.addProperty(className: "Dog", PropertyInput("age", "int"), value: nil)]))
            try session.setProperty("Dog", .text("2"), "age", .integer(7))
        }
        let list = try DifferenceList(
            old.database.current.snapshot, new.database.current.snapshot, ComparisonOptions(identity: .contents))
        #expect(list.lines.map { $0["kind"]?.string } == ["schemaVersion", "propertyAdded", "changed"])
        #expect(list.lines[2]["key"] == .string("2") && list.lines[2]["from"]?.object?.count == 0)
        #expect(list.lines[2]["to"]?.object?["age"] == .integer(7))
        for one in [old, new] { try one.finish() }
    }
}
