// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmFormats
import RealmTestSupport
import Testing

@testable import RealmHTTP

/// Objects that are created together: answers and errors are those of objects that are created one after the other.
@Suite struct GroupedCreateTests {
    private static let lines = ("Content-Type", "application/x-ndjson")

    private static func dog(_ key: Int) -> String { dog(key, name: "dog number \(key)") }

    private static func dog(_ key: Int, name: String) -> String {
        #"{"_id":\#(key),"age":\#(key % 20),"name":"\#(name)","tags":["a","t\#(key % 7)"],"chip":{"code":"c\#(key)"}}"#
    }

    /// A defective line, and what its import is answered with.
    struct Defect: Sendable, CustomTestStringConvertible {
        let line: String
        let code: String
        let pointer: String?
        var testDescription: String { code }
    }

    static let defects = [
        Defect(line: #"{"_id":-1,"age":"x"}"#, code: "type_mismatch", pointer: "/age"),
        Defect(line: #"{"_id":-1}"#, code: "missing_property", pointer: nil),
        Defect(line: #"{"_id":0,"age":1}"#, code: "duplicate_key", pointer: "/_id"),
        Defect(line: #"{"_id":-1,"age":1,"agee":1}"#, code: "unknown_property", pointer: "/agee"),
        Defect(line: #"{"_id":-1,"age":1,"tags":["a",7]}"#, code: "type_mismatch", pointer: "/tags/1"),
        Defect(line: #"{"_id":-1,"age":1,"chip":{"code":null}}"#, code: "null_not_allowed", pointer: "/chip/code"),
        Defect(line: #"{"_id":-1,"age":1,"any":{"$date":"never"}}"#, code: "type_mismatch", pointer: "/any"),
        Defect(line: #"{"_id":-1,"age":1,}"#, code: "invalid_json", pointer: nil),
    ]

    @Test(arguments: defects)
    func `the first defect of a long import is reported with its line, wherever it stands`(_ defect: Defect) throws {
        let server = try WriteServer()
        let bytes = try server.bytes()
        // Objects are created by the mebibyte: 257 of these are more.
        let long = String(repeating: "n", count: 4000)
        for place in [1, 200, 256, 257, 258, 259, 400] {
            let body = (0..<500).map { GroupedCreateTests.dog($0, name: long) }
            try GroupedCreateTests.check(defect, at: place, in: body, server)
        }
        // Or by ten thousand.
        if ["duplicate_key", "null_not_allowed"].contains(defect.code) {
            let body = (0..<10_100).map(GroupedCreateTests.dog)
            for place in [10_000, 10_001] { try GroupedCreateTests.check(defect, at: place, in: body, server) }
        }
        #expect(try server.bytes() == bytes)
        try server.finish()
    }

    /// Imports lines with a defective one, and with one that is no JSON near the end.
    private static func check(_ defect: Defect, at place: Int, in lines: [String], _ server: WriteServer) throws {
        var body = lines
        // The duplicate has to come behind what it duplicates.
        let line = defect.code == "duplicate_key" ? max(place, 2) : place
        body.insert(defect.line, at: line - 1)
        body.insert("{{{", at: lines.count - 1)
        let answer = try server.send("POST", "app/import?class=Dog", body.joined(separator: "\n"), [GroupedCreateTests.lines])
        #expect(answer.json["line"]?.int == line && answer.code == defect.code, "\(place): \(answer.text)")
        if let pointer = defect.pointer { #expect(answer.json["pointer"]?.text == pointer, "\(place): \(answer.text)") }
    }

    @Test func `a long import has all of its objects, with lists, embedded objects and links in any direction`() throws {
        let server = try WriteServer()
        let count = 21_000
        var body = (0..<count).map(GroupedCreateTests.dog)
        let people = (0..<200).map { person in
            #"{"$meta":{"class":"Person"},"id":"p\#(person)","dogs":[{"$link":{"class":"Dog","key":"\#(person * 7)"}},{"$link":{"class":"Dog","key":"\#(count - 1 - person)"}}],"#
                + #""friends":[{"$link":{"class":"Person","key":"p\#((person + 13) % 200)"}}]}"#
        }
        body = body.map { #"{"$meta":{"class":"Dog"},"# + $0.dropFirst() }
        body.insert(contentsOf: people, at: 12_000)
        body.insert("   ", at: 300)
        let answer = try server.send("POST", "app/import", body.joined(separator: "\n"), [GroupedCreateTests.lines])
        #expect(answer.json["created"]?.int == count + 200, "\(answer.text)")
        for key in [0, 1, 9_999, 12_345, count - 1] {
            let dog = try server.get("app/objects/Dog/\(key)").json
            #expect(dog["name"]?.text == "dog number \(key)" && dog["tags"]?[1]?.text == "t\(key % 7)", "\(dog)")
            #expect(dog["chip"]?["code"]?.text == "c\(key)")
        }
        #expect(
            try server.get("app/objects/Dog?where=tags.@count%20=%202%20AND%20chip.code%20!=%20nil&count=exact&limit=0").json[
                "count"]?.int
                == count)
        #expect(
            try server.get("app/objects/Person?where=dogs.@count%20=%202%20AND%20friends.@count%20=%201&count=exact&limit=0")
                .json["count"]?
                .int == 200)
        try server.finish()
    }

    @Test func `an array of new objects is a unit, and errors say which object is wrong`() throws {
        let server = try WriteServer()
        let all = (0..<1000).map(GroupedCreateTests.dog)
        let made = try server.send("POST", "app/objects/Dog", "[" + all.joined(separator: ",") + "]")
        #expect(made.status == 201)
        #expect(made.json["created"]?.int == 1000)
        #expect(made.json["keys"]?[999]?.text == "999")
        let bytes = try server.bytes()
        let more = (2000..<3000).map(GroupedCreateTests.dog)
        for defect in GroupedCreateTests.defects where defect.code != "invalid_json" {
            var body = more
            body.insert(defect.line, at: 700)
            let answer = try server.send("POST", "app/objects/Dog", "[" + body.joined(separator: ",") + "]")
            #expect(answer.code == defect.code, "\(answer.text)")
            #expect(answer.json["pointer"]?.text?.hasPrefix("/700" + (defect.pointer ?? "")) == true, "\(answer.text)")
        }
        #expect(try server.bytes() == bytes)
        let mixed = try server.send(
            "POST", "app/objects/Dog?upsert=all", "[" + (990..<1100).map(GroupedCreateTests.dog).joined(separator: ",") + "]")
        #expect(mixed.json["created"]?.int == 100 && mixed.json["updated"]?.int == 10, "\(mixed.text)")
        let fresh = try server.send(
            "POST", "app/objects/Dog?upsert=all", "[" + (5000..<5100).map(GroupedCreateTests.dog).joined(separator: ",") + "]")
        #expect(fresh.json["created"]?.int == 100 && fresh.json["updated"]?.int == 0, "\(fresh.text)")
        let twice = try server.send(
            "POST", "app/objects/Dog?upsert=all",
            "[" + [7000, 7001, 7000].map(GroupedCreateTests.dog).joined(separator: ",") + "]")
        #expect(twice.json["created"]?.int == 2 && twice.json["updated"]?.int == 1, "\(twice.text)")
        try server.finish()
    }

    @Test func `a link of a batch leads to what came before, and not to what comes later`() throws {
        let server = try WriteServer()
        let link = #""owner":{"$link":{"class":"Person","key":"ann"}}"#
        let people = (0..<20).map { #"{"create":{"class":"Person","body":{"id":"\#($0 == 3 ? "ann" : "p\($0)")"}}}"# }
        let dogs = (0..<20).map { #"{"create":{"class":"Dog","body":{"_id":\#($0),"age":1\#($0 == 11 ? "," + link : "")}}}"# }
        let wrong = try server.send("POST", "app/batch", #"{"ops":["# + (dogs + people).joined(separator: ",") + "]}")
        #expect(wrong.code == "link_target_missing" && wrong.json["op"]?.int == 11, "\(wrong.text)")
        let right = try server.send("POST", "app/batch", #"{"ops":["# + (people + dogs).joined(separator: ",") + "]}")
        #expect(right.status == 200, "\(right.text)")
        #expect(
            right.json["results"]?[31]?["key"]?.text == "11" && right.json["results"]?[31]?["created"]?.bool == true,
            "\(right.text)")
        let again = try server.send(
            "POST", "app/batch",
            #"{"ops":["#
                + (20..<40).map { #"{"create":{"class":"Dog","body":{"_id":\#($0 == 33 ? 11 : $0),"age":1}}}"# }.joined(
                    separator: ",") + "]}")
        #expect(again.code == "duplicate_key" && again.json["op"]?.int == 13, "\(again.text)")
        #expect(again.json["pointer"]?.text == "/ops/13/create/body/_id", "\(again.text)")
        try server.finish()
    }
}
