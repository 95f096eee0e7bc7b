// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Rows D1 to D5, D8 to D16, D53 and D54 of the checklist: lists, dictionaries and sets, and what changes them.
@Suite struct CollectionRowTests {
    /// A type, and values of it in the order that a set has them.
    static let elements: [(type: String, values: [String])] = [
        ("bool", ["false", "true"]), ("int", ["-9223372036854775808", "0", "9223372036854775807"]),
        ("string", ["\"\"", "\"a\"", "\"é\\u0000\""]),
        ("data", ["\"\"", "\"AQID\""]), ("date", ["\"1969-12-31T23:59:59.999999999Z\"", "\"2026-11-21T10:00:00Z\""]),
        ("float", ["-1.5", "3.4028235e+38"]), ("double", ["-1e+300", "0.1"]),
        ("decimal128", ["\"-9.999999999999999999999999999999999E+6144\"", "\"12.50\""]),
        ("objectId", ["\"000000000000000000000000\"", "\"507f1f77bcf86cd799439011\""]),
        ("uuid", ["\"00000000-0000-0000-0000-000000000000\"", "\"58715190-0c58-42bc-ab54-f775cb3b694a\""]),
        ("mixed", ["true", "1", "\"a\"", #"{"$oid":"507f1f77bcf86cd799439011"}"#]),
    ]

    /// A class with one collection of every type of element, with and without nulls.
    private static func holder(_ collection: String) -> [ClassInput] {
        let properties = elements.flatMap { element -> [PropertyInput] in
            (element.type == "mixed" ? [true] : [false, true]).map { (isOptional: Bool) in
                PropertyInput("\(element.type)_\(isOptional)", element.type, collection: collection, optional: isOptional)
            }
        }
        return [ClassInput("Holder", primaryKey: "_id", [PropertyInput("_id", "int")] + properties)]
    }

    private func eachProperty(
        _ collection: String, _ body: (_ path: String, _ values: [String], _ isOptional: Bool, WriteServer) throws -> Void
    ) throws {
        try withWriteServer(CollectionRowTests.holder(collection)) { server in
            try server.done("PUT", "app/objects/Holder/1", "{}")
            for element in CollectionRowTests.elements {
                for isOptional in element.type == "mixed" ? [true] : [false, true] {
                    try body("Holder/1/\(element.type)_\(isOptional)", element.values, isOptional, server)
                }
            }
        }
    }

    private func shown(_ path: String, _ server: WriteServer) throws -> String {
        let text = try server.show("Holder/1")
        let name = path.split(separator: "/").last ?? ""
        return text.range(of: "\"\(name)\":").map { String(text[$0.upperBound...]) } ?? ""
    }

    @Test func `D1: lists of every type of element keep their order, duplicates and nulls`() throws {
        try eachProperty("list") { path, values, isOptional, server in
            let list = "[" + (values.reversed() + values + (isOptional ? ["null"] : [])).joined(separator: ",") + "]"
            try server.done("PUT", "app/objects/" + path, list)
            let found = try shown(path, server)
            #expect(found.hasPrefix(list), "\(path): \(found.prefix(200))")
            let null = try server.send("PUT", "app/objects/" + path, "[null]")
            #expect(null.status == (isOptional ? 204 : 422))
        }
    }

    @Test func `D2: a list is filtered, sorted and made distinct as results are, and keeps its order and duplicates`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("PATCH", "app/objects/Dog/1", #"{"tags":["c","a","b","a","d"]}"#)
            try server.done("PATCH", "app/objects/Person/ann", #"{"dogs":[2,1,2]}"#)
            func items(_ query: String) throws -> String {
                let text = try server.get("app/objects/" + query).text
                return text.range(of: "],\"next\"").map { String(text[text.index(text.startIndex, offsetBy: 9)...$0.lowerBound]) }
                    ?? text
            }
            #expect(try items("Dog/1/tags?where=self%20%3C%20'd'") == #"["c","a","b","a"]"#)
            #expect(try items("Dog/1/tags?sort=-self") == #"["d","c","b","a","a"]"#)
            #expect(try items("Dog/1/tags?distinct=self") == #"["c","a","b","d"]"#)
            #expect(try items("Person/ann/dogs?where=age%20%3E%204&fields=_id&meta=none") == #"[{"_id":2},{"_id":2}]"#)
        }
    }

    @Test func `D3: a list that nobody gave is empty`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.done("PUT", "app/objects/Dog/9", #"{"age":1}"#).json["tags"]?.texts == [])
            try server.done("PATCH", "app/objects/Dog/9", #"[{"op":"add","path":"/tags/-","value":"x"}]"#, WriteServer.jsonPatch)
            #expect(try server.get("app/objects/Dog/9").json["tags"]?.texts == ["x"])
            try server.done("PUT", "app/objects/Dog/9", #"{"age":1}"#)
            #expect(try server.get("app/objects/Dog/9").json["tags"]?.texts == [])
        }
    }

    static let edits: [(patch: String?, edit: String?, expected: [String], changes: [CollectionChange])] = [
        (#"{"op":"add","path":"/tags/-","value":"z"}"#, #"{"add":"z"}"#, ["a", "b", "c", "z"], [.insert(3)]),
        (#"{"op":"add","path":"/tags/1","value":"z"}"#, #"{"insert":[1,"z"]}"#, ["a", "z", "b", "c"], [.insert(1)]),
        (#"{"op":"replace","path":"/tags/1","value":"z"}"#, #"{"set":[1,"z"]}"#, ["a", "z", "c"], [.set(1)]),
        (#"{"op":"remove","path":"/tags/0"}"#, #"{"remove":0}"#, ["b", "c"], [.erase(0)]),
        (#"{"op":"move","from":"/tags/0","path":"/tags/2"}"#, #"{"move":[0,2]}"#, ["b", "c", "a"], [.move(from: 0, to: 2)]),
        (nil, #"{"swap":[0,2]}"#, ["c", "b", "a"], []),
        (#"{"op":"remove","path":"/tags"}"#, #"{"clear":true}"#, [], [.clear(count: 3)]),
    ]

    @Test(arguments: 0..<7)
    func `D4: elements are added, inserted, replaced, removed, moved, exchanged and cleared, by patches and in batches`(
        _ index: Int
    ) throws {
        let row = CollectionRowTests.edits[index]
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let tags = try #require(try server.database().current.snapshot.classTable(named: "Dog")?.column(named: "tags")?.key)
            let reset = { try server.done("PATCH", "app/objects/Dog/1", #"{"tags":["a","b","c"]}"#) }
            if let patch = row.patch {
                _ = try reset()
                try server.done("PATCH", "app/objects/Dog/1", "[\(patch)]", WriteServer.jsonPatch)
                #expect(try server.get("app/objects/Dog/1").json["tags"]?.texts == row.expected)
            }
            if let edit = row.edit {
                _ = try reset()
                let answer = try server.batch(#"{"list":{"class":"Dog","key":"1","property":"tags","ops":[\#(edit)]}}"#)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try server.get("app/objects/Dog/1").json["tags"]?.texts == row.expected)
                let told = recorder.last("Dog")?.collections.first?.value[tags] ?? []
                if !row.changes.isEmpty { #expect(told == row.changes) } else { #expect(!told.isEmpty) }
            }
        }
    }

    @Test func `D5, D15: a collection goes with its owner: its commit tells of the owner only`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let batch = try server.batch(
                #"{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"add":"z"}]}}"#,
                #"{"dictionary":{"class":"Dog","key":"1","property":"marks","ops":[{"set":["z",1]}]}}"#,
                #"{"delete":{"class":"Dog","key":"1"}}"#)
            #expect(batch.status == 200)
            let told = try #require(recorder.last("Dog"))
            #expect(told.deleted.count == 1 && told.collections.isEmpty && told.modified.isEmpty)
            #expect(try server.get("app/objects/Dog/1/tags").code == "object_not_found")
            #expect(try server.get("app/objects/Dog/1/marks").code == "object_not_found")
            #expect(try server.done("PUT", "app/objects/Dog/1", #"{"age":1}"#).json["marks"]?.intsByName == [:])
        }
    }

    @Test func `the name of a realm that is being opened is taken, and what is ready after it was let go of is not served`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let name = try #require(RealmName("slow"))
            let catalog = server.server.state.catalog
            try catalog.reserve(name)
            let document = try server.get("slow").json
            #expect(document["state"]?.text == "opening" && document["progress"]?.double == 0)
            #expect(try server.send("POST", "slow/batch", #"{"ops":[]}"#).code == "realm_unavailable")
            #expect(try server.attach(#"{"name":"slow"}"#).code == "already_attached")
            #expect(try server.send("DELETE", "slow").status == 204)
            let late = try Database.openInMemory(name: name, identifier: "slow")
            #expect(throws: Catalog.Failure.detached) { try catalog.settle(name, .ready(late)) }
            late.close()
            #expect(try server.get("slow").code == "realm_not_found")
            let answer = try HTTPClient.request(
                port: server.port, "POST", "/v1/realms", headers: [WriteServer.json] + WriteServer.later,
                body: Array(#"{"name":"fast"}"#.utf8))
            #expect(answer.status == 202 && answer["Location"] == "/v1/realms/fast")
            #expect(try eventually { try server.state("fast") == "ready" })
        }
    }

    @Test func `D8: an order is a path and a direction, and writes move objects in it`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func keys(_ sort: String) throws -> [Int] {
                (try server.get("app/objects/Dog?sort=" + sort).json["items"]?.elements ?? []).compactMap {
                    $0["_id"]?.int
                }
            }
            #expect(try keys("age") == [1, 2] && keys("-age") == [2, 1])
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":9}"#)
            #expect(try keys("age") == [2, 1] && keys("owner.id,_id") == [1, 2])
        }
    }

    @Test func `D9: a commit tells what came, went and changed, each once`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let answer = try server.batch(
                #"{"create":{"class":"Dog","body":{"_id":7,"age":1}}}"#, #"{"patch":{"class":"Dog","key":"7","body":{"age":2}}}"#,
                #"{"patch":{"class":"Dog","key":"1","body":{"age":2}}}"#,
                #"{"patch":{"class":"Dog","key":"1","body":{"age":3}}}"#,
                #"{"create":{"class":"Dog","body":{"_id":8,"age":1}}}"#, #"{"delete":{"class":"Dog","key":"8"}}"#,
                #"{"patch":{"class":"Dog","key":"2","body":{"age":2}}}"#, #"{"delete":{"class":"Dog","key":"2"}}"#)
            #expect(answer.status == 200)
            let told = try #require(recorder.last("Dog"))
            #expect(told.inserted.count == 1 && told.deleted.count == 1 && told.modified.count == 1)
            // A deleted object is taken out of the lists that held it.
            #expect(recorder.commitCount == 1 && recorder.takeProperties() == ["Dog.age: 3 -> 3", "Person.dogs"])
        }
    }

    @Test func `D10: a write takes an object from one section to another`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func sections() throws -> [String] {
                let answer = try server.get("app/objects/Dog?sectionBy=age:mod(2)&fields=_id&meta=none")
                return (answer.json["sections"]?.elements ?? []).map { section in
                    let keys = (section["items"]?.elements ?? []).compactMap { $0["_id"]?.int }
                    return "\(section["key"]?.int ?? -1): \(keys)"
                }
            }
            #expect(try sections() == ["1: [1, 2]"])
            try server.done("PATCH", "app/objects/Dog/2", #"{"age":4}"#)
            #expect(try sections() == ["1: [1]", "0: [2]"])
            try server.done("DELETE", "app/objects/Dog/1")
            #expect(try sections() == ["0: [2]"])
        }
    }

    @Test(arguments: [
        ("\"9999999999999999999999999999999999E+6111\"", "9.999999999999999999999999999999999E+6144"),
        ("\"-9.999999999999999999999999999999999E+6144\"", "-9.999999999999999999999999999999999E+6144"),
        ("\"1E-6176\"", "1E-6176"), ("\"-1E-6176\"", "-1E-6176"),
        ("\"9.999999999999999999999999999999999E-6143\"", "9.999999999999999999999999999999999E-6143"),
        ("\"12.50\"", "12.50"), ("\"NaN\"", "NaN"), ("\"Infinity\"", "Infinity"), ("\"-Infinity\"", "-Infinity"),
        ("\"-0\"", "-0"), ("\"1E+3\"", "1E+3"),
    ])
    func `D11: decimals keep 34 digits, exponent and trailing zeros, and are never rounded`(_ given: String, _ shown: String)
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let answer = try server.done("PATCH", "app/objects/Value/1", #"{"decimal":\#(given)}"#)
            #expect(answer.json["decimal"]?.text == shown)
            let bytes = try server.bytes()
            for wrong in ["\"12345678901234567890123456789012345\"", "\"1E+6145\"", "\"1E-6177\""] {
                let refused = try server.send("PATCH", "app/objects/Value/1", #"{"decimal":\#(wrong)}"#)
                #expect(refused.status == 422 && refused.code == "out_of_range", "\(wrong): \(refused.text)")
            }
            #expect(try server.send("PATCH", "app/objects/Value/1", #"{"decimal":12.50}"#).code == "decimal_needs_string")
            #expect(try server.bytes() == bytes)
        }
    }

    @Test func `D12: dictionaries hold values of every type, nulls where they may`() throws {
        try eachProperty("dictionary") { path, values, isOptional, server in
            let entries = (values + (isOptional ? ["null"] : [])).enumerated().map { "\"k\($0.offset)\":\($0.element)" }
            let dictionary = "{" + entries.joined(separator: ",") + "}"
            try server.done("PUT", "app/objects/" + path, dictionary)
            let found = try shown(path, server)
            #expect(found.hasPrefix(dictionary), "\(path): \(found.prefix(200))")
            let null = try server.send("PUT", "app/objects/" + path, #"{"k":null}"#)
            #expect(null.status == (isOptional ? 204 : 422))
        }
    }

    @Test func `D12: dictionaries hold links and embedded objects`() throws {
        try withWriteServer([
            ClassInput(
                "Holder", primaryKey: "_id",
                [
                    PropertyInput("_id", "int"), PropertyInput("links", "object", collection: "dictionary", objectType: "Holder"),
                    PropertyInput("parts", "object", collection: "dictionary", objectType: "Part"),
                ]),
            ClassInput("Part", type: "embedded", [PropertyInput("n", "int")]),
        ]) { server in
            let body = #"{"links":{"me":{"$link":{"class":"Holder","key":"1"}},"none":null},"parts":{"a":{"n":1},"z":null}}"#
            try server.done("PUT", "app/objects/Holder/1", body)
            #expect(try server.show("Holder/1") == #"{"_id":1,"# + body.dropFirst())
        }
    }

    @Test(arguments: ["a.b", "$ab", "a.b.c", ".ab"])
    func `D13: keys with '.' or a leading '$' are refused, and served where a file has them`(_ key: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            let safe = key.replacingOccurrences(of: ".", with: "~").replacingOccurrences(of: "$", with: "~")
            try server.done(
                "PATCH", "app/objects/Dog/1",
                #"{"marks":null}"#.replacingOccurrences(of: "null", with: #"{"art":null,"\#(safe)":7}"#))
            let bytes = try server.bytes()
            for (path, type) in [("app/objects/Dog/1", "merge-patch"), ("app/objects/Dog/3", "put")] {
                let answer = try server.send(type == "put" ? "PUT" : "PATCH", path, #"{"age":1,"marks":{"\#(key)":1}}"#)
                #expect(answer.status == 422 && answer.code == "invalid_dictionary_key", "\(answer.text)")
            }
            #expect(
                try server.batch(#"{"dictionary":{"class":"Dog","key":"1","property":"marks","ops":[{"set":["\#(key)",1]}]}}"#)
                    .code == "invalid_dictionary_key")
            #expect(try server.bytes() == bytes)
            // The same file with the key that an older writer would have let through.
            var prepared = bytes
            while let range = prepared.range(of: Data(safe.utf8)) { prepared.replaceSubrange(range, with: Data(key.utf8)) }
            let path = server.folder + "/prepared.realm"
            try prepared.write(to: URL(fileURLWithPath: path))
            #expect(try server.attach(#"{"path":"\#(path)"}"#).status == 201)
            #expect(try server.get("prepared/objects/Dog/1?meta=none").text.contains(#""marks":{"\#(key)":7}"#))
            try server.done("PATCH", "prepared/objects/Dog/1", #"{"age":9}"#)
            #expect(try server.get("prepared/objects/Dog/1").json["marks"]?.intsByName == [key: 7])
        }
    }

    @Test(arguments: [
        ("marks['art']%20==%201", "1"), ("ANY%20marks.@values%20==%201", "1"), ("marks.@keys%20==%20'art'", "1"),
        ("marks.@count%20==%200", "2"),
        ("marks['art']%20==%202", ""),
    ])
    func `D14: dictionaries are queried by key, by value and by '@keys'`(_ condition: String, _ key: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            let answer = try server.done("PATCH", "app/objects/Dog?where=" + condition, #"{"age":77}"#)
            #expect(answer.json["matched"]?.int == (key.isEmpty ? 0 : 1), "\(answer.text)")
            if !key.isEmpty { #expect(try server.get("app/objects/Dog/\(key)").json["age"]?.int == 77) }
        }
    }

    @Test func `D15: a dictionary that nobody gave is empty, and entries are added and removed one by one`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.done("PUT", "app/objects/Dog/9", #"{"age":1}"#).json["marks"]?.intsByName == [:])
            try server.done("PATCH", "app/objects/Dog/9", #"{"marks":{"a":1,"b":2}}"#)
            try server.done("PATCH", "app/objects/Dog/9", #"{"marks":{"a":null,"c":3}}"#)
            #expect(try server.get("app/objects/Dog/9").json["marks"]?.intsByName == ["b": 2, "c": 3])
        }
    }

    @Test func `D16: a commit tells which entries of a dictionary came, changed and went`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let marks = try #require(try server.database().current.snapshot.classTable(named: "Dog")?.column(named: "marks")?.key)
            try server.done("PATCH", "app/objects/Dog/1", #"{"marks":{"gym":2,"math":3}}"#)
            #expect(recorder.last("Dog")?.collections.first?.value[marks]?.count == 2)
            let answer = try server.batch(
                #"{"dictionary":{"class":"Dog","key":"1","property":"marks","ops":[{"set":["bio",4]},{"set":["math",1]},{"remove":"art"}]}}"#
            )
            #expect(answer.status == 200)
            let told = recorder.last("Dog")?.collections.first?.value[marks] ?? []
            #expect(told.contains { if case .insert = $0 { true } else { false } }, "\(told)")
            #expect(told.contains { if case .set = $0 { true } else { false } }, "\(told)")
            #expect(told.contains { if case .erase = $0 { true } else { false } }, "\(told)")
            #expect(try server.get("app/objects/Dog/1").json["marks"]?.intsByName == ["bio": 4, "gym": 2, "math": 1])
        }
    }

    @Test func `D53: duplicates in a set collapse, for every type of element`() throws {
        try eachProperty("set") { path, values, isOptional, server in
            let given = "[" + (values + values.reversed() + (isOptional ? ["null", "null"] : [])).joined(separator: ",") + "]"
            try server.done("PUT", "app/objects/" + path, given)
            let expected = "[" + ((isOptional ? ["null"] : []) + values).joined(separator: ",") + "]"
            let found = try shown(path, server)
            #expect(found.hasPrefix(expected), "\(path): \(found.prefix(200))")
            let null = try server.send("PUT", "app/objects/" + path, "[null]")
            #expect(null.status == (isOptional ? 204 : 422))
        }
    }

    @Test(arguments: [
        (#"{"union":[2,3,3]}"#, [1, 2, 3]), (#"{"intersect":[2,9]}"#, [2]), (#"{"minus":[2,9]}"#, [1]),
        (#"{"insert":2}"#, [1, 2]), (#"{"insert":0}"#, [0, 1, 2]),
        (#"{"remove":1}"#, [2]), (#"{"remove":9}"#, [1, 2]), (#"{"clear":true}"#, []), (#"{"union":[]}"#, [1, 2]),
        (#"{"intersect":[]}"#, []),
    ])
    func `D54: sets are united, intersected and diminished`(_ edit: String, _ expected: [Int]) throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let answer = try server.batch(#"{"set":{"class":"Dog","key":"1","property":"ids","ops":[\#(edit)]}}"#)
            #expect(answer.json["results"]?.elements?.first?["count"]?.int == expected.count, "\(answer.text)")
            #expect(try server.get("app/objects/Dog/1").json["ids"]?.ints == expected)
            if expected != [1, 2] { #expect(recorder.last("Dog")?.collections.isEmpty == false) }
        }
    }
}
