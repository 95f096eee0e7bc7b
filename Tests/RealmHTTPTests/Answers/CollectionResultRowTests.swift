// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Rows B29 to B32, D48 and D58 of the checklist: what results are asked, every kind of collection answers.
@Suite struct CollectionResultRowTests {
    /// A kind of collection of the box with the key 1, whose elements have the numbers of `numbers` in some order.
    struct Kind: Sendable, CustomTestStringConvertible {
        let path: String
        /// The key path of the number of an element.
        var number = "n"
        /// What a row shows: the number itself, or an object with it, possibly as the entry of a dictionary.
        let read: @Sendable (ParsedJSON) -> Int64?
        /// The text of an element for `indexOf`, by its number; nil where elements have no key.
        var key: (@Sendable (Int64) -> String)? = { "i\($0)" }
        /// Whether a number may occur twice.
        var hasDuplicates = true

        var testDescription: String { path }
    }

    private static let own: @Sendable (ParsedJSON) -> Int64? = { $0["n"]?.integer }
    private static let entry: @Sendable (ParsedJSON) -> Int64? = { $0["object"]?["n"]?.integer }
    private static let embedded: @Sendable (ParsedJSON) -> Int64? = { $0["value"]?["n"]?.integer }
    private static let digits: @Sendable (Int64) -> String = { "\($0)" }

    static let kinds: [Kind] = [
        Kind(path: "objects/Item", read: own, hasDuplicates: false),
        Kind(path: "objects/Box/1/list", read: own),
        Kind(path: "objects/Box/1/set", read: own, hasDuplicates: false),
        Kind(path: "objects/Box/1/map", read: entry),
        Kind(path: "objects/Box/1/@links/Item/box", read: own, hasDuplicates: false),
        Kind(path: "objects/Box/1/kids", read: own, key: nil),
        Kind(path: "objects/Box/1/kidMap", read: embedded, key: nil),
        Kind(path: "objects/Box/1/ints", number: "self", read: { $0.integer }, key: digits),
        Kind(path: "objects/Box/1/intSet", number: "self", read: { $0.integer }, key: digits, hasDuplicates: false),
        Kind(path: "objects/Box/1/intMap", number: "self", read: { $0["value"]?.integer }, key: digits),
    ]

    private static func withBoxes(_ body: (WriteServer) throws -> Void) throws {
        let classes = [
            ClassInput(
                "Item", primaryKey: "_id",
                [
                    PropertyInput("_id", "string"), PropertyInput("n", "int"), PropertyInput("name", "string", optional: true),
                    PropertyInput("box", "object", objectType: "Box"),
                ]),
            ClassInput("Kid", type: "embedded", [PropertyInput("n", "int")]),
            ClassInput(
                "Box", primaryKey: "_id",
                [
                    PropertyInput("_id", "int"), PropertyInput("list", "object", collection: "list", objectType: "Item"),
                    PropertyInput("set", "object", collection: "set", objectType: "Item"),
                    PropertyInput("map", "object", collection: "dictionary", objectType: "Item"),
                    PropertyInput("kids", "object", collection: "list", objectType: "Kid"),
                    PropertyInput("kidMap", "object", collection: "dictionary", objectType: "Kid"),
                    PropertyInput("ints", "int", collection: "list"), PropertyInput("intSet", "int", collection: "set"),
                    PropertyInput("intMap", "int", collection: "dictionary"), PropertyInput("single", "int", optional: true),
                    PropertyInput("words", "string", collection: "list", optional: true),
                    PropertyInput("reals", "double", collection: "list", optional: true),
                    PropertyInput("floats", "float", collection: "list", optional: true),
                    PropertyInput("dates", "date", collection: "list", optional: true),
                    PropertyInput("decimals", "decimal128", collection: "list"),
                    PropertyInput("mixeds", "mixed", collection: "list"), PropertyInput("nothing", "int", collection: "list"),
                    PropertyInput("datas", "data", collection: "list", optional: true),
                    PropertyInput("dataSet", "data", collection: "set", optional: true),
                    PropertyInput("dataMap", "data", collection: "dictionary", optional: true),
                ]),
        ]
        try withWriteServer(classes) { (server: WriteServer) throws in
            let items = [4, 1, 3, 5, 2].map { #"{"_id":"i\#($0)","n":\#($0),"name":\#($0 > 3 ? "null" : "\"w\($0)\""),"box":1}"# }
            try server.done("PUT", "app/objects/Box/1", "{}")
            try server.done("POST", "app/objects/Item", "[" + items.joined(separator: ",") + "]")
            try server.done(
                "PATCH", "app/objects/Box/1",
                """
                {"list":["i4","i1","i3","i5","i2","i3"],"set":["i4","i1","i3","i5","i2"],
                 "map":{"a":"i4","b":"i1","c":"i3","d":"i5","e":"i2","f":"i3"},
                 "kids":[{"n":4},{"n":1},{"n":3},{"n":5},{"n":2},{"n":3}],
                 "kidMap":{"a":{"n":4},"b":{"n":1},"c":{"n":3},"d":{"n":5},"e":{"n":2},"f":{"n":3}},
                 "ints":[4,1,3,5,2,3],"intSet":[4,1,3,5,2],"intMap":{"a":4,"b":1,"c":3,"d":5,"e":2,"f":3},
                 "words":["b",null,"","@x"],"reals":[1.5,null,-2.5],"floats":[0.5,null,2],
                 "dates":["2020-01-01T00:00:00Z",null,"2021-01-01T00:00:00Z"],"decimals":["1.10","2.20"],
                 "mixeds":[1,2.5,"x",null]}
                """)
            try body(server)
        }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    @Test(arguments: kinds)
    func `D58: every kind of collection takes the parameters of results`(_ kind: Kind) throws {
        try CollectionResultRowTests.withBoxes { (server: WriteServer) throws in
            func ask(_ query: String) throws -> ParsedJSON {
                let answer = try server.get("app/" + kind.path + "?" + query)
                #expect(answer.status == 200, "\(query): \(answer.text)")
                return answer.json
            }
            func numbers(_ query: String) throws -> [Int64] {
                (try ask(query)["items"]?.elements ?? []).map { kind.read($0) ?? -1 }
            }
            let all = try numbers("")
            #expect(all.sorted() == (kind.hasDuplicates ? [1, 2, 3, 3, 4, 5] : [1, 2, 3, 4, 5]))
            let path = kind.number
            #expect(try numbers("at=0") == [all[0]])
            #expect(try numbers("at=-1,1") == [all[all.count - 1], all[1]])
            #expect(try server.get("app/" + kind.path + "?at=99").code == "invalid_parameter")
            #expect(try numbers("offset=1&limit=2") == Array(all[1...2]))
            #expect(try ask("count=exact&limit=0")["count"]?.integer == Int64(all.count))
            #expect(try numbers("sort=\(path)") == all.sorted())
            #expect(try numbers("sort=-\(path)&at=0") == [5])
            var seen = Set<Int64>()
            #expect(try numbers("distinct=\(path)") == all.filter { seen.insert($0).inserted })
            let large = all.filter { $0 > 2 }
            let filter = CollectionResultRowTests.encoded("\(path) > 2")
            #expect(try numbers("where=\(filter)") == large)
            #expect(try ask("indexOfWhere=\(filter)")["index"]?.integer == all.firstIndex { $0 > 2 }.map(Int64.init))
            #expect(try ask("indexOfWhere=\(CollectionResultRowTests.encoded("\(path) > 9"))")["index"] == .null)
            if let key = kind.key {
                #expect(try ask("indexOf=\(key(3))")["index"]?.integer == all.firstIndex(of: 3).map(Int64.init))
                let sorted = all.sorted(by: >)
                #expect(try ask("sort=-\(path)&indexOf=\(key(2))")["index"]?.integer == sorted.firstIndex(of: 2).map(Int64.init))
            }
            try CollectionResultRowTests.expectSections(kind, all, try ask("sectionBy=\(path):mod(2)&count=exact"))
            #expect(try server.get("app/" + kind.path + "?sectionBy=\(path):mod(2)&section=7").code == "section_not_found")
            let plan = try ask("explain=true&where=\(filter)")["plan"]?.texts ?? []
            #expect(plan.contains { $0.contains("> 2") }, "\(plan)")
            let head = try server.send("HEAD", "app/" + kind.path + "?count=exact")
            #expect(head.status == 200 && head["Realm-Count"] == "\(all.count)")
            let query = try server.send("QUERY", "app/" + kind.path, #"{"where":"\#(path) > $0","args":[2],"limit":2}"#)
            #expect((query.json["items"]?.elements ?? []).map { kind.read($0) ?? -1 } == Array(large.prefix(2)))
            // Pages by cursor are the whole result, once.
            var paged: [Int64] = []
            var after = ""
            repeat {
                let page = try ask("sort=\(path)&limit=2" + after)
                paged += (page["items"]?.elements ?? []).map { kind.read($0) ?? -1 }
                after = page["next"]?.text.map { "&after=" + $0 } ?? ""
            } while !after.isEmpty
            #expect(paged == all.sorted())
        }
    }

    private static func expectSections(_ kind: Kind, _ all: [Int64], _ answer: ParsedJSON) throws {
        let sections = answer["sections"]?.elements ?? []
        #expect(sections.map { $0["key"]?.integer } == [1, 0])
        let rows = sections.map { ($0["items"]?.elements ?? []).map { kind.read($0) ?? -1 } }
        #expect(rows == [all.sorted().filter { $0 % 2 == 1 }, all.sorted().filter { $0 % 2 == 0 }])
        #expect(answer["count"]?.integer == Int64(all.count))
    }

    @Test(arguments: kinds)
    func `B29, B30, B31, B32: every kind of collection has a least, greatest, sum and average`(_ kind: Kind) throws {
        try CollectionResultRowTests.withBoxes { (server: WriteServer) throws in
            let isClass = kind.path == "objects/Item"
            let base = isClass ? "app/aggregate/Item" : "app/" + kind.path + "/@aggregate"
            let path = kind.number
            let total: Int64 = kind.hasDuplicates ? 18 : 15
            let count: Int64 = kind.hasDuplicates ? 6 : 5
            let all = try server.get(base + "?ops=count,min:\(path),max:\(path),sum:\(path),avg:\(path)").json
            #expect(all["count"]?.integer == count && all["sum:\(path)"]?.integer == total)
            #expect(all["min:\(path)"]?.integer == 1 && all["max:\(path)"]?.integer == 5 && all["avg:\(path)"]?.double == 3)
            let filter = CollectionResultRowTests.encoded("\(path) > 9")
            let none = try server.get(base + "?where=\(filter)&ops=min:\(path),max:\(path),sum:\(path),avg:\(path)").json
            #expect(none["min:\(path)"] == .null && none["max:\(path)"] == .null && none["avg:\(path)"] == .null)
            #expect(none["sum:\(path)"]?.integer == 0)
            #expect(try server.send("POST", base, #"{"where":"\#(path) > 2","ops":["sum:\#(path)"]}"#).json["sum:\(path)"] != nil)
            // A name cannot be a member of the answer twice.
            let twice = try server.get(base + "?ops=count,count")
            #expect(twice.status == 400 && twice.code == "invalid_parameter" && twice.text.contains("'count' is given twice"))
            #expect(try server.get(base + "?ops=min:nope").code == "unknown_key_path")
            if path == "self" {
                let short = try server.get(base + "?ops=min,max,sum,avg,min:self").json
                #expect(short["min"]?.integer == 1 && short["max"]?.integer == 5 && short["avg"]?.double == 3)
                #expect(short["sum"]?.integer == total && short["min:self"]?.integer == 1)
            } else {
                #expect(try server.get(base + "?ops=min").code == "invalid_parameter")
            }
        }
    }

    @Test func `B29, B30, B31, B32: aggregates of values know their types, leave out nulls and refuse the others`() throws {
        try CollectionResultRowTests.withBoxes { (server: WriteServer) throws in
            func ask(_ property: String, _ ops: String) throws -> HTTPClient.Answer {
                try server.get("app/objects/Box/1/\(property)/@aggregate?ops=\(ops)")
            }
            let reals = try ask("reals", "count,min,max,sum,avg").json
            #expect(reals["count"]?.integer == 3 && reals["min"]?.double == -2.5 && reals["max"]?.double == 1.5)
            #expect(reals["sum"]?.double == -1 && reals["avg"]?.double == -0.5)
            #expect(try ask("floats", "avg,max").json["avg"]?.double == 1.25)
            #expect(try ask("decimals", "sum").json["sum"]?.text == "3.30")
            let dates = try ask("dates", "min,max").json
            #expect(dates["min"]?.text == "2020-01-01T00:00:00Z" && dates["max"]?.text == "2021-01-01T00:00:00Z")
            for op in ["sum", "avg"] {
                let refused = try ask("dates", op)
                #expect(refused.status == 422 && refused.code == "type_mismatch", "\(refused.text)")
            }
            for op in ["min", "max", "sum", "avg"] {
                let refused = try ask("words", op)
                #expect(refused.status == 422 && refused.code == "type_mismatch", "\(refused.text)")
            }
            #expect(try ask("mixeds", "sum").text.contains("3.5"))
            let nothing = try ask("nothing", "min,sum,avg,count").json
            #expect(nothing["min"] == .null && nothing["sum"]?.integer == 0 && nothing["avg"] == .null)
            try server.done("PATCH", "app/objects/Box/1", #"{"nothing":[9223372036854775807,1]}"#)
            let overflow = try ask("nothing", "sum")
            #expect(overflow.status == 422 && overflow.code == "aggregate_overflow")
            #expect(try ask("single", "min").code == "conflicting_parameters")
            #expect(try server.get("app/objects/Box/2/ints/@aggregate").code == "object_not_found")
        }
    }

    @Test func `D58: a value is found by its text, and null links of dictionaries are left out of what selects`() throws {
        try CollectionResultRowTests.withBoxes { (server: WriteServer) throws in
            func index(_ query: String) throws -> ParsedJSON? { try server.get("app/objects/Box/1/" + query).json["index"] }
            #expect(try index("words?indexOf=@null") == .integer(1))
            #expect(try index("words?indexOf=@empty") == .integer(2))
            #expect(try index("words?indexOf=@@x") == .integer(3))
            #expect(try index("words?indexOf=none") == .null)
            #expect(try index("reals?indexOf=-2.5") == .integer(2))
            #expect(try index("dates?indexOf=2021-01-01T00:00:00Z") == .integer(2))
            #expect(try index("decimals?indexOf=2.2") == .integer(1))
            #expect(try index("mixeds?indexOf=x") == .integer(2))
            #expect(try index("mixeds?indexOf=2.5") == .integer(1))
            for (collection, base64) in [
                ("datas", #"["AQ==","",null]"#), ("dataSet", #"["AQ==","",null]"#), ("dataMap", #"{"a":"AQ==","b":"","c":null}"#),
            ] {
                try server.done("PATCH", "app/objects/Box/1", #"{"\#(collection)":\#(base64)}"#)
                let items = try server.get("app/objects/Box/1/" + collection).json["items"]?.elements ?? []
                let empty = try #require(items.firstIndex { ($0["value"] ?? $0).text == "" }, "\(items)")
                #expect(try index(collection + "?indexOf=@empty") == .integer(Int64(empty)), "\(collection)")
                #expect(try index(collection + "?indexOf=AQ==") != .null)
            }
            let wrong = try server.get("app/objects/Box/1/ints?indexOf=four")
            #expect(wrong.code == "invalid_parameter" && wrong.text.contains("not a value of type int"))
            try server.done("PUT", "app/objects/Box/1/map", #"{"0":null,"a":"i4","b":null,"c":"i2"}"#)
            func rows(_ query: String) throws -> Int {
                try server.get("app/objects/Box/1/map" + query).json["items"]?.elements?.count ?? -1
            }
            #expect(try rows("") == 4 && rows("?sort=n") == 2 && rows("?distinct=name") == 2)
            #expect(try rows("?where=TRUEPREDICATE") == 2)
            #expect(try server.get("app/objects/Box/1/map?sectionBy=n").json["sections"]?.elements?.count == 2)
            // Without a query nothing is selected, so they count.
            for (query, count) in [("", 4), ("&where=TRUEPREDICATE", 2)] as [(String, Int64)] {
                let answer = try server.get("app/objects/Box/1/map/@aggregate?ops=count,sum:n" + query)
                #expect(answer.json["count"]?.integer == count && answer.json["sum:n"]?.integer == 6, "\(answer.text)")
            }
            // Ties keep the order of the collection.
            try server.done("PATCH", "app/objects/Box/1", #"{"list":["i5","i4","i1","i4","i5"]}"#)
            let ties = try server.get("app/objects/Box/1/list?sort=name&fields=_id&meta=none").json["items"]?.elements ?? []
            #expect(ties.map { $0["_id"]?.text } == ["i5", "i4", "i4", "i5", "i1"])
        }
    }

    @Test func `D48: linking objects are results: each incoming link counts`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("PATCH", "app/objects/Person/ann", #"{"dogs":[1,2,1]}"#)
            let path = "app/objects/Dog/1/@links/Person/dogs"
            #expect(try server.get(path + "?count=exact").json["count"]?.integer == 2)
            #expect(try server.get(path + "/@aggregate").json["count"]?.integer == 2)
            #expect(try server.get(path + "?distinct=id").json["items"]?.elements?.count == 1)
            #expect(try server.get(path + "?indexOf=ann").json["index"]?.integer == 0)
            #expect(try server.get(path + "?at=1&fields=id&meta=none").json["items"]?.elements?.first?["id"]?.text == "ann")
            #expect(try server.get(path + "?sectionBy=id").json["sections"]?.elements?.first?["key"]?.text == "ann")
            #expect(try server.get("app/objects/Dog/1/@links/Person/nope/@aggregate").code == "not_found")
        }
    }
}
