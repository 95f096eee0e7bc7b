// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Migrations that make objects of old values: row D28 of the checklist.
@Suite struct ObjectMigrationTests {
    private static let classes = [
        ClassInput(
            "Person", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("first", "string"), PropertyInput("last", "string"),
                PropertyInput("age", "int", optional: true), PropertyInput("city", "string", optional: true),
                PropertyInput("street", "string"), PropertyInput("tags", "string", collection: "list"),
                PropertyInput("marks", "int", collection: "dictionary"), PropertyInput("friend", "object", objectType: "Person"),
                PropertyInput("home", "object", objectType: "Place"), PropertyInput("any", "mixed"),
            ]),
        ClassInput("Place", [PropertyInput("name", "string"), PropertyInput("size", "int", optional: true)]),
        ClassInput("Note", [PropertyInput("text", "string")]),
    ]

    /// Three people, two of them from the same city, with a place each.
    private func withPeople(_ body: (WriteServer) throws -> Void) throws {
        try withWriteServer(ObjectMigrationTests.classes) { (server: WriteServer) throws in
            try server.done(
                "POST", "app/batch",
                """
                {"ops":[{"create":{"class":"Person","body":{"id":1,"first":"Ann","last":"Lee","age":30,"city":"Oslo","street":"A 1",
                "tags":["x","y"],"marks":{"art":1,"law":2},"home":{"name":"hut","size":3},"any":{"k":[1,"v"]}},"nested":"upsert"}},
                {"create":{"class":"Person","body":{"id":2,"first":"Bo","last":"Ek","age":40,"city":"Oslo","street":"B 2",
                "tags":["y"],"friend":1,"home":{"name":"flat"}},"nested":"upsert"}},
                {"create":{"class":"Person","body":{"id":3,"first":"Cy","last":"Orr","street":"C 3","friend":2}}},
                {"create":{"class":"Note","body":{"text":"n"}}}]}
                """)
            try body(server)
        }
    }

    /// Carries out steps, and returns the answer.
    @discardableResult
    private func migrate(
        _ server: WriteServer, _ steps: String, losing: Bool = false, query: String = ""
    ) throws -> HTTPClient.Answer {
        try server.send(
            "POST", "app/migrations" + query,
            #"{"fromVersion":0,"toVersion":1,"allowDataLoss":\#(losing),"steps":[\#(steps)]}"#)
    }

    private static func add(_ className: String, _ property: String) -> String {
        #"{"addProperty":{"class":"\#(className)","property":\#(property)}}"#
    }

    @Test func `D28: values of objects are computed at any depth of embedded objects, lists and dictionaries`() throws {
        try withPeople { server in
            let answer = try migrate(
                server,
                """
                {"addClass":{"name":"Address","type":"embedded","properties":[{"name":"street","type":"string"},
                  {"name":"lines","type":"string","collection":"list"}]}},
                \(Self.add("Person", #"{"name":"address","type":"object","objectType":"Address"}"#)),
                \(Self.add("Person", #"{"name":"all","type":"object","objectType":"Address","collection":"list"}"#)),
                \(Self.add("Person", #"{"name":"names","type":"string","collection":"dictionary"}"#)),
                \(Self.add("Person", #"{"name":"pair","type":"string","collection":"set"}"#)),
                \(Self.add("Person", #"{"name":"deep","type":"mixed"}"#)),
                {"set":{"class":"Person","where":"TRUEPREDICATE","values":{
                  "address":{"street":{"$expr":"street"},"lines":[{"$expr":"first + ' ' + last"},"constant"]},
                  "all":[{"street":{"$expr":"street + '!'"}},{"street":"fixed"}],
                  "names":{"full":{"$expr":"first + last"},"other":"o"},
                  "pair":[{"$expr":"last"},{"$expr":"first"}],
                  "deep":[{"$expr":"age"},{"in":{"$expr":"any"}},{"$link":{"class":"Person","key":{"$expr":"id"}}}]}}}
                """)
            #expect(answer.status == 200, "\(answer.text)")
            let ann = try server.get("app/objects/Person/1?meta=none")
            #expect(ann.json["address"]?["street"]?.text == "A 1")
            #expect(ann.text.contains(#""lines":["Ann Lee","constant"]"#), "\(ann.text)")
            #expect(ann.text.contains(#""all":[{"street":"A 1!","lines":[]},{"street":"fixed","lines":[]}]"#), "\(ann.text)")
            #expect(ann.text.contains(#""names":{"full":"AnnLee","other":"o"}"#), "\(ann.text)")
            #expect(ann.text.contains(#""pair":["Ann","Lee"]"#), "\(ann.text)")
            #expect(ann.text.contains(#""deep":[30,{"in":{"k":[1,"v"]}},{"$link":"#), "\(ann.text)")
        }
    }

    @Test func `D28: equal cities become one object each, with links to it and lists of links back`() throws {
        try withPeople { server in
            let answer = try migrate(
                server,
                """
                {"addClass":{"name":"City","primaryKey":"name","properties":[{"name":"name","type":"string"}]}},
                {"addClass":{"name":"Stay","properties":[{"name":"who","type":"object","objectType":"Person"},
                  {"name":"where","type":"object","objectType":"City"},{"name":"text","type":"string"}]}},
                \(Self.add("Person", #"{"name":"town","type":"object","objectType":"City"}"#)),
                \(Self.add("Person", #"{"name":"same","type":"object","objectType":"City"}"#)),
                {"forEach":{"class":"Person","as":"p","where":"city != nil","steps":[
                  {"create":{"class":"City","body":{"name":{"$expr":"p.city"}},"as":"c","upsert":"modified"}},
                  {"set":{"object":"p","values":{"town":{"$link":{"ref":"c"}},"same":{"$link":{"class":"City","key":{"$expr":"p.city"}}}}}},
                  {"create":{"class":"Stay","body":{"who":{"$expr":"p"},"where":{"$expr":"c"},"text":{"$expr":"p.first + '@' + c.name"}}}}]}},
                {"removeProperty":{"class":"Person","name":"city"}}
                """, losing: true)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.count("City") == 1 && server.count("Stay") == 2)
            for key in [1, 2] {
                let person = try server.get("app/objects/Person/\(key)?meta=none")
                #expect(person.json["town"]?["$link"]?["key"]?.text == "Oslo")
                #expect(person.json["same"]?["$link"]?["key"]?.text == "Oslo")
            }
            #expect(try server.get("app/objects/Person/3?meta=none").json["town"] == .null)
            #expect(try server.get("app/objects/City/Oslo/@links/Person/town?count=exact").json["count"]?.int == 2)
            let stays = try server.get("app/objects/Stay?where=text%3D'Ann@Oslo'%20AND%20who.id%3D1&count=exact")
            #expect(stays.json["count"]?.int == 1, "\(stays.text)")
        }
    }

    @Test func `D28: each element of a list, set or dictionary makes an object`() throws {
        try withPeople { server in
            let answer = try migrate(
                server,
                """
                {"addClass":{"name":"Tag","primaryKey":"name","properties":[{"name":"name","type":"string"},
                  {"name":"first","type":"object","objectType":"Person"}]}},
                {"addClass":{"name":"Mark","properties":[{"name":"of","type":"object","objectType":"Person"},
                  {"name":"subject","type":"string"},{"name":"grade","type":"int"}]}},
                {"addClass":{"name":"Label","type":"embedded","properties":[{"name":"text","type":"string"},{"name":"at","type":"int"}]}},
                \(Self.add("Person", #"{"name":"links","type":"object","objectType":"Tag","collection":"list"}"#)),
                \(Self.add("Person", #"{"name":"labels","type":"object","objectType":"Label","collection":"list"}"#)),
                \(Self.add("Person", #"{"name":"twice","type":"int","collection":"dictionary"}"#)),
                {"forEach":{"class":"Person","as":"p","steps":[
                  {"forEach":{"in":"p.tags","as":"t","steps":[
                    {"create":{"class":"Tag","body":{"name":{"$expr":"t"},"first":{"$link":{"ref":"p"}}},"upsert":"all"}}]}},
                  {"forEach":{"in":"p.marks","as":"m","keyAs":"k","steps":[
                    {"create":{"class":"Mark","body":{"of":{"$expr":"p"},"subject":{"$expr":"k"},"grade":{"$expr":"m * 10"}}}}]}},
                  {"set":{"object":"p","values":{
                    "links":{"$each":{"in":"p.tags","as":"t","value":{"$link":{"class":"Tag","key":{"$expr":"t"}}}}},
                    "labels":{"$each":{"in":"p.tags","as":"t","keyAs":"i","value":{"text":{"$expr":"p.first + t"},"at":{"$expr":"i"}}}},
                    "twice":{"$each":{"in":"p.marks","as":"m","value":{"$expr":"m + m"}}}}}}]}}
                """)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.count("Tag") == 2 && server.count("Mark") == 2)
            #expect(try server.get("app/objects/Tag/y?meta=none").json["first"]?["$link"]?["key"]?.text == "2")
            let ann = try server.get("app/objects/Person/1?meta=none").text
            #expect(ann.contains(#""labels":[{"text":"Annx","at":0},{"text":"Anny","at":1}]"#), "\(ann)")
            #expect(ann.contains(#""twice":{"art":2,"law":4}"#), "\(ann)")
            #expect(try server.get("app/objects/Person/1/links?count=exact").json["count"]?.int == 2)
            #expect(
                try server.get("app/objects/Mark?where=subject%3D'law'%20AND%20grade%3D20&count=exact").json["count"]?.int == 1)
        }
    }

    /// Objects with dictionaries that have null entries, and all that key paths can lead to.
    private func withDictionaries(_ body: (WriteServer) throws -> Void) throws {
        let classes = [
            ClassInput(
                "Row", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("marks", "int", collection: "dictionary", optional: true),
                    PropertyInput("rooms", "object", collection: "dictionary", objectType: "Room"),
                    PropertyInput("list", "object", collection: "list", objectType: "Room"),
                    PropertyInput("any", "mixed"), PropertyInput("tags", "string", collection: "list"),
                    PropertyInput("nums", "int", collection: "set"), PropertyInput("friend", "object", objectType: "Row"),
                    PropertyInput("friends", "object", collection: "list", objectType: "Row"),
                ]),
            ClassInput(
                "Room", type: "embedded",
                [PropertyInput("name", "string"), PropertyInput("map", "int", collection: "dictionary", optional: true)]),
        ]
        try withWriteServer(classes) { (server: WriteServer) throws in
            try server.done(
                "POST", "app/objects/Row",
                """
                {"id":1,"marks":{"art":null,"law":2,"pe":4},"rooms":{"a":{"name":"den","map":{"n":null}},"b":null},
                "list":[{"name":"hall"},{"name":"attic","map":{"k":7}}],"any":[1,{"a":[5,null]}],"tags":["x","y"],"nums":[3,1]}
                """)
            try server.done("POST", "app/objects/Row", #"{"id":2,"friend":1,"friends":[1,2,1]}"#)
            try body(server)
        }
    }

    @Test func `D28: null entries of dictionaries are copied, or refused where the property takes none`() throws {
        try withDictionaries { server in
            let marks =
                #"{"addProperty":{"class":"Row","property":{"name":"%@","type":"int","collection":"dictionary","optional":%o}}}"#
            func add(_ name: String, optional: Bool) -> String {
                marks.replacingOccurrences(of: "%@", with: name).replacingOccurrences(of: "%o", with: "\(optional)")
            }
            func set(_ values: String) -> String { #"{"set":{"class":"Row","where":"id == 1","values":{\#(values)}}}"# }
            let each = #"{"$each":{"in":"marks","as":"m","value":{"$expr":"m"}}}"#
            for value in [#"{"$expr":"marks"}"#, each, #"{"$each":{"in":"$old.marks","as":"m","value":{"$expr":"m + 1"}}}"#] {
                let refused = try migrate(server, add("strict", optional: false) + "," + set(#""strict":\#(value)"#))
                #expect(refused.status == 422 && refused.code == "null_not_allowed", "\(refused.text)")
                #expect(refused.json["key"]?.text == "1" && refused.text.contains("art"), "\(refused.text)")
            }
            let steps = [
                add("copied", optional: true), add("made", optional: true), add("old", optional: true),
                add("loop", optional: true),
                #"{"addProperty":{"class":"Row","property":{"name":"places","type":"object","objectType":"Room","collection":"dictionary"}}}"#,
                #"{"addProperty":{"class":"Row","property":{"name":"mixes","type":"mixed","collection":"dictionary"}}}"#,
                set(
                    #""copied":{"$expr":"marks"},"made":\#(each),"old":{"$expr":"$old.marks"},"places":{"$expr":"rooms"},"mixes":{"$expr":"marks"}"#
                ),
                #"{"forEach":{"class":"Row","as":"r","where":"id == 1","steps":[{"set":{"object":"r","values":{"loop":{"$expr":"r.marks"}}}}]}}"#,
            ]
            let answer = try migrate(server, steps.joined(separator: ","))
            #expect(answer.status == 200, "\(answer.text)")
            let row = try server.get("app/objects/Row/1?meta=none").text
            for name in ["copied", "made", "old", "loop", "mixes"] {
                #expect(row.contains(#""\#(name)":{"art":null,"law":2,"pe":4}"#), "\(name): \(row)")
            }
            #expect(row.contains(#""places":{"a":{"name":"den","map":{"n":null}},"b":null}"#), "\(row)")
            // In a dictionary that is written out a null removes an entry.
            let literal = try server.send(
                "POST", "app/migrations", #"{"fromVersion":1,"toVersion":2,"steps":[\#(set(#""copied":{"art":null,"new":1}"#))]}"#
            )
            #expect(literal.status == 200, "\(literal.text)")
            #expect(try server.value("Row/1/copied").contains("art") == false)
        }
    }

    /// Expressions of object 1, and object 2 where they begin with `friend`, with their results as JSON.
    static let expressions: [(expression: String, result: String)] = [
        ("tags[0]", #""x""#), ("tags[1]", #""y""#), ("tags[2]", "null"), ("tags[FIRST] + tags[LAST]", #""xy""#),
        ("marks.law", "2"), ("marks['law']", "2"), ("marks[\\\"law\\\"] + 1", "3"), ("marks.art", "null"), ("marks.none", "null"),
        ("any[0]", "1"), ("any[1].a[0]", "5"), ("any[1]['a'][1]", "null"), ("list[1].name", #""attic""#),
        ("list[1].map.k", "7"), ("list[LAST].map['k'] * 2", "14"), ("rooms.a.name", #""den""#), ("rooms['b'].name", "null"),
        ("tags.@count", "2"), ("tags.@size + 1", "3"), ("nums.@count", "2"), ("marks.@count", "3"), ("any.@count", "2"),
        ("tags[SIZE]", "2"), ("list.@count", "2"), ("rooms.a.map.@count", "1"), ("marks.@keys[0]", #""art""#),
        ("marks.@values.@max", "4"), ("marks.@min", "2"), ("marks.@sum", "6"), ("marks.@avg", "3.0"), ("nums.@avg", "2.0"),
        ("friends.@count", "0"), ("friends.@max.id", "null"), ("friends.@sum.id", "0"), ("nums[0]", "1"),
        ("@links.Row.friend.@count", "1"), ("@links.Row.friends.@count", "2"), ("@links.Row.friend[0].id", "2"),
        ("@links.Row.friends.@avg.id", "2.0"), ("$old.tags[0]", #""x""#), ("$old.@links.Row.friends.@count", "2"),
        ("1e3", "1000.0"), ("1.5E-2", "0.015"), ("2e+2 + 1", "201.0"), ("tags[0] + '[0]'", #""x[0]""#),
    ]

    @Test func `D28: key paths lead into collections and to linking objects, as in queries`() throws {
        try withDictionaries { server in
            let properties = ObjectMigrationTests.expressions.indices.map {
                #"{"addProperty":{"class":"Row","property":{"name":"p\#($0)","type":"mixed"}}}"#
            }
            let values = ObjectMigrationTests.expressions.enumerated().map { #""p\#($0)":{"$expr":"\#($1.expression)"}"# }
            let steps =
                properties + [
                    #"{"set":{"class":"Row","where":"id == 1","values":{\#(values.joined(separator: ","))}}}"#,
                    #"{"addProperty":{"class":"Row","property":{"name":"fans","type":"object","objectType":"Row","collection":"list"}}}"#,
                    #"{"addProperty":{"class":"Row","property":{"name":"total","type":"int","optional":true}}}"#,
                    #"{"addProperty":{"class":"Row","property":{"name":"none","type":"int","optional":true}}}"#,
                    #"{"set":{"class":"Row","where":"id == 1","values":{"fans":{"$expr":"@links.Row.friends"}}}}"#,
                    """
                    {"forEach":{"class":"Row","as":"r","steps":[{"set":{"object":"r","values":{
                      "total":{"$expr":"r.friends.@sum.id"},"none":{"$expr":"r.friend.tags.@count"}}}}]}}
                    """,
                ]
            let answer = try migrate(server, steps.joined(separator: ","))
            #expect(answer.status == 200, "\(answer.text)")
            let row = try server.get("app/objects/Row/1?meta=none").json
            for (index, (expression, result)) in ObjectMigrationTests.expressions.enumerated() {
                #expect(row["p\(index)"]?.serialized == result, "\(expression)")
            }
            #expect(row["fans"]?.elements?.count == 2 && row["total"]?.int == 0 && row["none"] == .null)
            let other = try server.get("app/objects/Row/2?meta=none").json
            #expect(other["total"]?.int == 4 && other["none"]?.int == 2)
        }
    }

    @Test(arguments: [
        "tags[", "tags[x]", "tags[0", "tags['a]", "tags.@nope", "@links", "@links.Row", "@links.Row.tags", "@links.Nobody.friend",
        "tags.name", "tags['a']", "marks[0]", "id[0]", "id.@count", "tags.@sum", "friend.@count", "1e", "1e999", "1.2.3", "@",
        "list.name", "friends.@max", "marks.@max.id", "tags[99999999999999999999]", "tags[-1]", ".tags", "tags.", "marks.$old",
    ])
    func `D28: a key path that leads nowhere is refused with the reason`(_ expression: String) throws {
        try withDictionaries { server in
            let steps = """
                {"addProperty":{"class":"Row","property":{"name":"new","type":"mixed"}}},
                {"set":{"class":"Row","where":"TRUEPREDICATE","values":{"new":{"$expr":"\(expression)"}}}}
                """
            let refusals = [
                ("friend.@count", ["type_mismatch", "invalid_schema"]), ("tags.@sum", ["type_mismatch"]),
            ]
            let codes = refusals.first { $0.0 == expression }?.1 ?? ["invalid_schema"]
            let answer = try migrate(server, steps)
            #expect(answer.status == 422 && codes.contains(answer.code ?? ""), "\(expression): \(answer.text)")
            #expect(answer.json["pointer"]?.text == "/steps/1/set/values/new", "\(answer.text)")
        }
    }

    @Test func `D28: old values remain readable after properties were changed, renamed and removed`() throws {
        try withPeople { server in
            let answer = try migrate(
                server,
                """
                {"renameProperty":{"class":"Person","name":"first","to":"given"}},
                {"changeProperty":{"class":"Person","name":"age","conversion":"int-to-string"}},
                {"set":{"class":"Person","where":"TRUEPREDICATE","values":{"last":"?","tags":[]}}},
                {"removeProperty":{"class":"Person","name":"street"}},
                {"renameClass":{"name":"Person","to":"Human"}},
                \(Self.add("Human", #"{"name":"full","type":"string","optional":true}"#)),
                \(Self.add("Human", #"{"name":"next","type":"int","optional":true}"#)),
                \(Self.add("Human", #"{"name":"where","type":"string","optional":true}"#)),
                \(Self.add("Human", #"{"name":"was","type":"string","collection":"list"}"#)),
                \(Self.add("Human", #"{"name":"pal","type":"object","objectType":"Human"}"#)),
                {"create":{"class":"Human","body":{"id":4,"given":"New","last":"One"}}},
                {"forEach":{"class":"Human","as":"p","steps":[{"set":{"object":"p","values":{
                  "full":{"$expr":"p.$old.first + ' ' + p.$old.last"},"next":{"$expr":"p.$old.age + 1"},
                  "pal":{"$expr":"p.$old.friend"}}}}]}},
                {"set":{"class":"Human","where":"id < 4","values":{"where":{"$expr":"$old.street + friend.$old.street"},
                  "was":{"$expr":"$old.tags"}}}}
                """, losing: true)
            #expect(answer.status == 200, "\(answer.text)")
            let two = try server.get("app/objects/Human/2?meta=none")
            #expect(two.json["full"]?.text == "Bo Ek" && two.json["next"]?.int == 41 && two.json["age"]?.text == "40")
            #expect(two.json["where"]?.text == "B 2A 1" && two.text.contains(#""was":["y"]"#), "\(two.text)")
            #expect(two.json["pal"]?["$link"]?["key"]?.text == "1")
            #expect(try server.get("app/objects/Human/1?meta=none").json["where"] == .null)
            let new = try server.get("app/objects/Human/4?meta=none")
            #expect(new.json["full"] == .null && new.json["next"] == .null && new.json["pal"] == .null, "\(new.text)")
        }
    }

    @Test func `D28: a class becomes embedded and back, and embedded objects become objects of a class`() throws {
        try withPeople { server in
            let embedded = try migrate(
                server, #"{"setType":{"class":"Place","type":"embedded"}}"#)
            #expect(embedded.status == 200, "\(embedded.text)")
            #expect(try server.get("app/objects/Person/1?meta=none").text.contains(#""home":{"name":"hut","size":3}"#))
            let steps = """
                {"addClass":{"name":"House","properties":[{"name":"of","type":"object","objectType":"Person"},
                  {"name":"label","type":"string"},{"name":"size","type":"int","optional":true}]}},
                {"forEach":{"class":"Person","where":"home != nil","as":"p","steps":[
                  {"create":{"class":"House","body":{"of":{"$expr":"p"},"label":{"$expr":"p.home.name"},"size":{"$expr":"p.home.size"}}}}]}},
                {"setType":{"class":"Place","type":"object"}},
                {"delete":{"class":"Note","where":"TRUEPREDICATE"}}
                """
            let back = try server.send(
                "POST", "app/migrations", #"{"fromVersion":1,"toVersion":2,"allowDataLoss":true,"steps":[\#(steps)]}"#)
            #expect(back.status == 200, "\(back.text)")
            #expect(try server.count("House") == 2 && server.count("Place") == 2 && server.count("Note") == 0)
            let houses = try server.get("app/objects/House?where=label%3D'hut'%20AND%20size%3D3%20AND%20of.id%3D1&count=exact")
            #expect(houses.json["count"]?.int == 1, "\(houses.text)")
        }
    }

    @Test func `D28: objects are deleted in loops if data may be lost, and steps see what is gone`() throws {
        try withPeople { server in
            let loop = #"{"forEach":{"class":"Person","where":"age != nil","as":"p","steps":[{"delete":{"object":"p"}}]}}"#
            let before = try server.get("app/export").text
            let refused = try migrate(server, loop)
            #expect(refused.code == "would_lose_data" && refused.json["counts"]?["objects"]?.int == 2, "\(refused.text)")
            #expect(refused.json["pointer"]?.text == "/steps/0/forEach/steps/0/delete")
            let gone = loop.replacingOccurrences(of: "\"}}]", with: #""}},{"set":{"object":"p","values":{"age":1}}}]"#)
            let after = try migrate(server, gone, losing: true)
            #expect(after.code == "invalid_schema" && after.text.contains("has been deleted"), "\(after.text)")
            #expect(after.json["pointer"]?.text == "/steps/0/forEach/steps/1/set/object")
            #expect(try server.get("app/export").text == before)
            #expect(try migrate(server, loop, losing: true).status == 200)
            #expect(try server.count("Person") == 1)
        }
    }

    /// Steps that are refused, with the code of the problem and the pointer.
    static let refusals: [(steps: String, code: String, pointer: String)] = [
        (
            #"{"create":{"class":"City","body":{"name":{"$expr":"city"}}}}"#, "invalid_schema", "/steps/0/create/body/name"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"create":{"class":"City","body":{"name":{"$expr":"q.city"}}}}]}}"#,
            "invalid_schema", "/steps/0/forEach/steps/0/create/body/name"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"create":{"class":"City","body":{"name":{"$expr":"p.city"}}}}]}}"#,
            "duplicate_key", "/steps/0/forEach/steps/0/create/body/name"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"create":{"class":"City","body":{"name":"x"},"upsert":"maybe"}}]}}"#,
            "invalid_body", "/steps/0/forEach/steps/0/create/upsert"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"create":{"class":"Note","body":{"text":"x"},"upsert":"all"}}]}}"#,
            "invalid_schema", "/steps/0/forEach/steps/0/create/upsert"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"set":{"object":"p","values":{"age":{"$expr":"p.first"}}}}]}}"#,
            "type_mismatch", "/steps/0/forEach/steps/0/set/values/age"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"forEach":{"in":"p.first","as":"t","steps":[]}}]}}"#,
            "type_mismatch", "/steps/0/forEach/steps/0/forEach/in"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"forEach":{"in":"p.tags","as":"p","steps":[]}}]}}"#,
            "invalid_schema", "/steps/0/forEach/steps/0/forEach/as"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"forEach":{"class":"Person","as":"q","steps":[]}}]}}"#,
            "invalid_body", "/steps/0/forEach/steps/0/forEach/class"
        ),
        (
            #"{"forEach":{"class":"Person","as":"p","steps":[{"addClass":{"name":"X"}}]}}"#, "invalid_body",
            "/steps/0/forEach/steps/0/addClass"
        ),
        (#"{"forEach":{"class":"Nobody","as":"p","steps":[]}}"#, "invalid_schema", "/steps/0/forEach/class"),
        (#"{"forEach":{"class":"Person","as":"p","where":"x = 1","steps":[]}}"#, "unknown_key_path", "/steps/0/forEach/where"),
        (#"{"forEach":{"class":"Person","as":"true","steps":[]}}"#, "invalid_schema", "/steps/0/forEach/as"),
        (
            #"{"set":{"class":"Person","where":"TRUEPREDICATE","values":{"tags":["a",{"$expr":"age"}]}}}"#, "type_mismatch",
            "/steps/0/set/values/tags/1"
        ),
        (
            #"{"set":{"class":"Person","where":"TRUEPREDICATE","values":{"tags":{"$each":{"in":"tags","as":"t","value":{"$expr":"t +"}}}}}}"#,
            "invalid_schema", "/steps/0/set/values/tags/$each/value"
        ),
        (
            #"{"set":{"class":"Person","where":"TRUEPREDICATE","values":{"friend":{"$link":{"class":"Person","key":{"$expr":"id + 70"}}}}}}"#,
            "link_target_missing", "/steps/0/set/values/friend"
        ),
    ]

    @Test(arguments: ObjectMigrationTests.refusals)
    func `D28: a step that fails is named, and nothing of the migration remains`(
        _ refusal: (steps: String, code: String, pointer: String)
    ) throws {
        try withPeople { server in
            let before = try server.get("app/export").text
            let city = #"{"addClass":{"name":"City","primaryKey":"name","properties":[{"name":"name","type":"string"}]}}"#
            let pointer = refusal.pointer.replacingOccurrences(of: "/steps/0/", with: "/steps/1/", options: .anchored)
            for query in ["?dryRun=true", ""] {
                let answer = try migrate(server, city + "," + refusal.steps, query: query)
                #expect(answer.code == refusal.code, "\(answer.text)")
                #expect(answer.json["pointer"]?.text == pointer, "\(answer.text)")
                #expect(try server.get("app/export").text == before)
            }
        }
    }

    @Test func `D28: what fails for one object names it`() throws {
        try withPeople { server in
            let step = #"{"set":{"object":"p","values":{"first":{"$expr":"p.city"}}}}"#
            let answer = try migrate(server, #"{"forEach":{"class":"Person","as":"p","steps":[\#(step)]}}"#)
            #expect(answer.code == "null_not_allowed" && answer.json["key"]?.text == "3", "\(answer.text)")
        }
    }

    @Test func `D28: the rounds of loops are bounded`() throws {
        try withWriteServer(ObjectMigrationTests.classes, change: { $0.limits.migrationRounds = 10 }) { server in
            let people = (1...6).map { #"{"id":\#($0),"first":"a","last":"b","street":"s","tags":["x","y"]}"# }
            try server.done("POST", "app/objects/Person", "[" + people.joined(separator: ",") + "]")
            let inner = #"{"forEach":{"in":"p.tags","as":"t","steps":[]}}"#
            let answer = try migrate(server, #"{"forEach":{"class":"Person","as":"p","steps":[\#(inner)]}}"#)
            #expect(answer.code == "too_many_affected" && answer.json["limitName"]?.text == "migration-rounds", "\(answer.text)")
            #expect(answer.json["limit"]?.int == 10)
            #expect(try migrate(server, #"{"forEach":{"class":"Person","as":"p","steps":[]}}"#).status == 200)
        }
    }

    @Test func `D28: loops are nested eight deep, and a migration has ten thousand steps`() throws {
        try withPeople { server in
            func nested(_ depth: Int) -> String {
                var loop = ""
                for level in (1..<depth).reversed() {
                    loop = #"{"forEach":{"in":"v0.tags","as":"v\#(level)","steps":[\#(loop)]}}"#
                }
                return #"{"forEach":{"class":"Person","as":"v0","steps":[\#(loop)]}}"#
            }
            let deep = try migrate(server, nested(9))
            #expect(deep.code == "invalid_schema" && deep.text.contains("at most 8"), "\(deep.text)")
            #expect(try migrate(server, nested(8), query: "?dryRun=true").status == 200)
            let step = #"{"delete":{"object":"p"}}"#
            let many = Array(repeating: step, count: 10_000).joined(separator: ",")
            let loop = #"{"forEach":{"class":"Person","where":"FALSEPREDICATE","as":"p","steps":[\#(many)]}}"#
            let answer = try migrate(server, loop)
            #expect(answer.code == "invalid_schema" && answer.json["pointer"]?.text == "/steps", "\(answer.text)")
        }
    }
}
