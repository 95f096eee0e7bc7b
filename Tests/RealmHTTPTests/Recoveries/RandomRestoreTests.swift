// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmTestSupport
import Testing

/// Random deletions of objects with links and embedded objects that are undone in the live realm, round after round, against the
/// contents before.
@Suite struct RandomRestoreTests {
    private static let classes = [
        ClassInput(
            "Note", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("title", "string"), PropertyInput("body", "string", optional: true),
                PropertyInput("friend", "object", objectType: "Note"),
                PropertyInput("friends", "object", collection: "list", objectType: "Note"),
                PropertyInput("group", "object", collection: "set", objectType: "Note"),
                PropertyInput("named", "object", collection: "dictionary", objectType: "Note"),
                PropertyInput("any", "mixed"), PropertyInput("words", "string", collection: "list"),
                PropertyInput("place", "object", objectType: "Place"),
                PropertyInput("places", "object", collection: "list", objectType: "Place"),
                PropertyInput("entry", "object", objectType: "Entry"), PropertyInput("$odd", "string", optional: true),
            ]),
        ClassInput(
            "Place", type: "embedded",
            [
                PropertyInput("street", "string"), PropertyInput("neighbor", "object", objectType: "Note"),
                PropertyInput("point", "object", objectType: "Point"),
            ]),
        ClassInput("Point", type: "embedded", [PropertyInput("x", "double"), PropertyInput("y", "double")]),
        ClassInput(
            "Entry",
            [
                PropertyInput("number", "int"), PropertyInput("note", "object", objectType: "Note"),
                PropertyInput("data", "data", optional: true),
            ]),
    ]

    /// One realm, with what is done to it.
    private struct Desk {
        let server: WriteServer
        var random: SeededGenerator
        var nextID = 1
        var notes: [Int] = []
        /// The keys of entries by their numbers.
        var entries: [Int: String] = [:]

        mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        mutating func link() -> String {
            chance(3) ? "null" : notes.randomElement(using: &random).map { "\($0)" } ?? "null"
        }

        mutating func links() -> [String] {
            var links: [String] = []
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                if let note = notes.randomElement(using: &random) { links.append("\(note)") }
            }
            return links
        }

        mutating func text() -> String {
            let words = ["haven", "vale", "amber", "quartz", "näher", "ember", #"\"fjord\""#, "slate"]
            let count = Int.random(in: 1...(chance(9) ? 40 : 4), using: &random)
            var text: [String] = []
            for _ in 0..<count { text.append(words[Int.random(in: 0..<8, using: &random)]) }
            return text.joined(separator: " ")
        }

        mutating func place() -> String {
            let x = Double(Int.random(in: 0..<99, using: &random)) / 4
            let point = chance(2) ? "null" : #"{"x":\#(x),"y":1.5}"#
            return #"{"street":"\#(text())","neighbor":\#(link()),"point":\#(point)}"#
        }

        mutating func mixed() -> String {
            guard chance(4), let note = notes.randomElement(using: &random) else {
                return ["7", #""text""#, "null", #"[1,[true],{"k":2.5}]"#][Int.random(in: 0..<4, using: &random)]
            }
            return #"{"$link":{"class":"Note","key":"\#(note)"}}"#
        }

        mutating func entry() -> String {
            guard let number = entries.keys.sorted().randomElement(using: &random), let key = entries[number] else {
                return "null"
            }
            return #"{"$link":{"class":"Entry","key":"\#(key)"}}"#
        }

        mutating func values() -> String {
            var members: [String] = [#""title":"\#(text())""#]
            if chance(2) { members.append(#""body":"\#(text())""#) }
            if chance(2) { members.append(#""friend":\#(link())"#) }
            if chance(2) {
                let list = links().joined(separator: ",")
                members.append(#""friends":[\#(list)]"#)
            }
            if chance(3) {
                let list = Set(links()).sorted().joined(separator: ",")
                members.append(#""group":[\#(list)]"#)
            }
            if chance(3) { members.append(#""named":{"a":\#(link()),"b":\#(link())}"#) }
            if chance(2) { members.append(#""any":\#(mixed())"#) }
            if chance(2) { members.append(#""words":["\#(text())","x"]"#) }
            if chance(2) { members.append(#""place":\#(chance(4) ? "null" : place())"#) }
            if chance(3) { members.append(#""places":[\#(place()),\#(place())]"#) }
            if chance(3) { members.append(#""entry":\#(entry())"#) }
            if chance(4) { members.append(#""$$odd":"\#(text())""#) }
            return members.joined(separator: ",")
        }

        mutating func grow(_ count: Int) throws {
            var ops: [String] = []
            for _ in 0..<count {
                if chance(5) {
                    let number = nextID
                    ops.append(#"{"create":{"class":"Entry","body":{"number":\#(number),"note":\#(link()),"data":"AAEC"}}}"#)
                } else {
                    ops.append(#"{"create":{"class":"Note","body":{"id":\#(nextID),\#(values())}}}"#)
                    notes.append(nextID)
                }
                nextID += 1
            }
            try server.done("POST", "app/batch", #"{"ops":[\#(ops.joined(separator: ","))]}"#)
            try learnEntries()
        }

        mutating func learnEntries() throws {
            entries = [:]
            let items: [ParsedJSON] = try server.get("app/objects/Entry?limit=1000").json["items"]?.elements ?? []
            for item in items {
                guard let number = item["number"]?.int, let key = item["$meta"]?["key"]?.text else { continue }
                entries[number] = key
            }
        }

        mutating func change() throws {
            guard let note = notes.randomElement(using: &random) else { return }
            try server.done("PATCH", "app/objects/Note/\(note)", "{\(values())}")
        }

        /// Returns an object with the members of its set in order of their texts: a set is in the order of object keys.
        private func sortingGroup(of text: String) -> String {
            guard let start = text.range(of: "\"group\":["), let end = text[start.upperBound...].firstIndex(of: "]") else {
                return text
            }
            let members = text[start.upperBound..<end].components(separatedBy: "}},").map { $0.replacing("}}", with: "") }
            return text[..<start.upperBound] + members.sorted().joined(separator: ",") + text[end...]
        }

        /// The contents of the realm, with entries named by their numbers.
        func contents() throws -> [String] {
            var lines: [String] = []
            for (name, order) in [("Note", "id"), ("Entry", "number")] {
                let answer = try server.get("app/objects/\(name)?limit=1000&sort=\(order)", [("Accept", "application/x-ndjson")])
                for line in answer.text.split(separator: "\n") {
                    var text = String(line)
                    // The tag and the key of an entry are others afterwards.
                    if let meta = text.range(of: "\"$meta\":{"), let end = text[meta.upperBound...].firstIndex(of: "}") {
                        text.removeSubrange(meta.lowerBound...text.index(after: end))
                    }
                    for (number, key) in entries { text = text.replacing("\"key\":\"\(key)\"}", with: "\"entry\":\(number)}") }
                    lines.append(sortingGroup(of: text))
                }
            }
            return lines
        }
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `deleted objects are restored as they were, links and embedded objects included`(_ seed: UInt64) throws {
        try withWriteServer(RandomRestoreTests.classes) { server in
            var desk = Desk(server: server, random: SeededGenerator(seed: seed))
            try desk.grow(Int.random(in: 5...90, using: &desk.random))
            for round in 1...(TestRun.isLong ? 25 : 6) {
                if desk.chance(2) { try desk.grow(Int.random(in: 1...20, using: &desk.random)) }
                for _ in 0..<Int.random(in: 0...4, using: &desk.random) { try desk.change() }
                try restoreOnce(&desk, "seed \(seed), round \(round)")
            }
        }
    }

    /// Deletes some objects in one commit, restores all of them, and compares.
    private func restoreOnce(_ desk: inout Desk, _ label: String) throws {
        let server = desk.server
        let before = try desk.contents()
        let count = desk.chance(6) ? desk.notes.count : Int.random(in: 1...5, using: &desk.random)
        var ops: [String] = []
        for note in desk.notes.shuffled(using: &desk.random).prefix(count) {
            ops.append(#"{"delete":{"class":"Note","key":"\#(note)"}}"#)
        }
        if desk.chance(3) {
            for number in desk.entries.keys.sorted().shuffled(using: &desk.random).prefix(2) {
                guard let key = desk.entries[number] else { continue }
                ops.append(#"{"delete":{"class":"Entry","key":"\#(key)"}}"#)
            }
        }
        guard !ops.isEmpty else { return }
        try server.done("POST", "app/batch", #"{"ops":[\#(ops.joined(separator: ","))]}"#)
        let deleted = try server.get("app/recovered?kind=deleted&certainty=A&limit=1000").json
        // An object that was deleted before and never restored is not among those of the last version.
        let versions: [ParsedJSON] = deleted["versions"]?.elements ?? []
        let last: Int = versions.compactMap { $0["version"]?.int }.max() ?? 0
        let found: [ParsedJSON] = deleted["items"]?.elements ?? []
        let items = found.filter { $0["versions"]?.ints?.contains(last) == true }
        #expect(items.count == ops.count, "\(label): not all deletions were found")
        let ids = items.compactMap { $0["id"]?.text }.shuffled(using: &desk.random).map { "\"\($0)\"" }
        let body =
            #"{"recovery":"\#(deleted["recovery"]?.text ?? "")","ids":[\#(ids.joined(separator: ","))],"incoming":true}"#
        let version = try server.get("app").json["version"]?.text
        let dry = try server.send("POST", "app/recovered/restore?dryRun=true", body)
        #expect(try server.get("app").json["version"]?.text == version, "\(label): a dry run has changed something")
        let real = try server.send("POST", "app/recovered/restore", body)
        try #require(real.status == 200, "\(label): \(real.text)")
        #expect(dry.status == 200 && dry.json["results"] == real.json["results"], "\(label): \(dry.text) \(real.text)")
        let results: [ParsedJSON] = real.json["results"]?.elements ?? []
        #expect(results.count == items.count && results.allSatisfy { $0["droppedLinks"] == nil }, "\(label): \(real.text)")
        try desk.learnEntries()
        let after = try desk.contents()
        if after != before {
            let lost = before.filter { !after.contains($0) }.prefix(2)
            let new = after.filter { !before.contains($0) }.prefix(2)
            Issue.record("\(label): \(before.count) objects before, \(after.count) after\n- \(lost)\n+ \(new)")
        }
        try server.done("DELETE", "app/recovered")
    }
}
