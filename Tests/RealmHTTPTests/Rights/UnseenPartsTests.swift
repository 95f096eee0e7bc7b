// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmTestSupport
import Testing

/// Embedded objects whose writer does not see all of them: what it cannot see stays, and elements of lists are recognized.
@Suite struct UnseenPartsTests {
    private static let roles = """
        roles:
          part:
            realms:
              app:
                transactions: true
                classes: {S: [read, create, update, import], V: {allow: [read], where: pub == true}}
          hide:
            realms:
              app:
                classes:
                  S: [read, create, update, import]
                  E: {allow: [], fields: {hide: [t], readOnly: [r]}}
                  V: [read]
          loader: {realms: {app: {classes: {S: [create, update, import]}}}}
          editor:
            realms:
              app:
                classes: {S: [read, create, update], V: {allow: [read, create, update], where: pub == true}}
        """
    private static let classes = """
        {"name":"S","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"e","type":"object","objectType":"E"},
        {"name":"f","type":"object","objectType":"E"},
        {"name":"es","type":"object","collection":"list","objectType":"E"},
        {"name":"d","type":"object","collection":"dictionary","objectType":"E"},{"name":"v","type":"object","objectType":"V"},
        {"name":"vs","type":"object","collection":"list","objectType":"V"},{"name":"m","type":"mixed"},
        {"name":"ms","type":"mixed","collection":"list"},{"name":"md","type":"mixed","collection":"dictionary"}]},
        {"name":"E","type":"embedded","properties":[{"name":"a","type":"int","optional":true},
        {"name":"t","type":"string","optional":true},{"name":"r","type":"string","optional":true},
        {"name":"to","type":"object","objectType":"V"},{"name":"in","type":"object","objectType":"I"}]},
        {"name":"I","type":"embedded","properties":[{"name":"n","type":"int","optional":true},
        {"name":"to","type":"object","objectType":"V"}]},
        {"name":"V","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"pub","type":"bool"}]}
        """
    private static let path = "/v1/realms/app/objects/S/1"

    /// A server with an object, and the keys of an administrator and of those with the roles.
    private struct Desk {
        let server: KeyServer
        let admin: APIKeyText
        let part: APIKeyText
        let hide: APIKeyText
        let loader: APIKeyText
        let editor: APIKeyText

        init(_ members: String) throws {
            server = try KeyServer(statingRoles: UnseenPartsTests.roles) { $0.memoryRealms = ["app"] }
            admin = try server.add("admin")
            (part, hide) = (try server.add("p", roles: ["part"]), try server.add("h", roles: ["hide"]))
            loader = try server.add("l", roles: ["loader"])
            editor = try server.add("e", roles: ["editor"])
            try server.attach("app", UnseenPartsTests.classes, admin)
            let targets = (1...9).map { #"{"id":\#($0),"pub":\#($0 == 9)}"# }.joined(separator: ",")
            try server.post("app/objects/V", admin, "[\(targets)]")
            try reset(members)
        }

        func reset(_ members: String) throws {
            let answer = try server.request("PUT", UnseenPartsTests.path, admin, body: UnseenPartsTests.expanded("{\(members)}"))
            try #require(answer.status < 300, "\(answer.text)")
        }

        /// The object with the elements of its lists of embedded ones as in `expanded`.
        func stored(_ property: String, by key: APIKeyText? = nil) throws -> String {
            UnseenPartsTests.short(
                try server.request("GET", UnseenPartsTests.path + "?meta=none", key ?? admin).json[property] ?? .null)
        }

        func put(_ property: String, _ value: String, by key: APIKeyText? = nil) throws -> HTTPClient.Answer {
            try server.request("PUT", UnseenPartsTests.path + "/" + property, key ?? part, body: UnseenPartsTests.expanded(value))
        }

        func jsonPatch(_ text: String, by key: APIKeyText? = nil) throws -> HTTPClient.Answer {
            try server.request(
                "PATCH", UnseenPartsTests.path, key ?? part, [("Content-Type", "application/json-patch+json")],
                body: UnseenPartsTests.expanded("[\(text)]"))
        }
    }

    /// Writes out `5@2`, an embedded object with a number and a link, and `@2`, a link.
    private static func expanded(_ text: String) -> String {
        text.replacing(/(\d+)(?:@(\d))/) { match in
            #"{"a":\#(match.output.1),"to":{"$link":{"class":"V","key":"\#(match.output.2)"}}}"#
        }.replacing(/(?<number>\d+)~/) { #"{"a":\#($0.output.number)}"# }.replacing(/@(?<key>\d)/) {
            #"{"$link":{"class":"V","key":"\#($0.output.key)"}}"#
        }
    }

    /// Returns a value in the same form.
    private static func short(_ value: ParsedJSON) -> String {
        switch value {
        case .array(let elements): return "[" + elements.map(short).joined(separator: ",") + "]"
        case .object(let members):
            if let key = value["$link"]?["key"]?.text { return "@" + key }
            if let number = value["a"], members.count >= 3 {
                let rest = members.filter { !["a", "to"].contains($0.name) && $0.value != .null }
                let link = value["to"].map { $0 == .null ? "~" : short($0) } ?? "~"
                return number.serialized + link + rest.map { "\($0.name):" + short($0.value) }.joined(separator: " ")
            }
            return "{" + members.map { "\($0.name):" + short($0.value) }.sorted().joined(separator: ",") + "}"
        default: return value.serialized
        }
    }

    /// A list before, what is assigned, and the list afterwards; nil for a refusal.
    private static let lists: [(before: String, assigned: String, after: String?)] = [
        // As it was read.
        ("[1@1,2@2]", "[1~,2~]", "[1@1,2@2]"), ("[1@1,1@2]", "[1~,1~]", "[1@1,1@2]"), ("[1@1,2@9]", "[1~,2@9]", "[1@1,2@9]"),
        // Moved, removed, added.
        ("[1@1,2@2,3~]", "[3~,2~,1~]", "[3~,2@2,1@1]"), ("[1@1,2@2]", "[2~]", "[2@2]"), ("[1@1,2@2,3@3]", "[3~,1~]", "[3@3,1@1]"),
        ("[1@1,2@2]", "[0~,1~,2~,3~]", "[0~,1@1,2@2,3~]"), ("[1@1,2@2]", "[2~,0~,1~]", "[2@2,0~,1@1]"),
        ("[1@1,2@2]", "[]", "[]"), ("[1@1]", "[1~,1~]", "[1@1,1~]"),
        // Changed in their places.
        ("[1@1,2@2]", "[5~,2~]", "[5@1,2@2]"), ("[1@1,2@2]", "[5~,6~]", "[5@1,6@2]"), ("[1@1,2@2]", "[7~,2~,3~]", "[7@1,2@2,3~]"),
        ("[1@1,2@2,3@3]", "[1~,3~,4~]", nil), ("[1@1,1@2]", "[1~,5~]", "[1@1,5@2]"), ("[1@1,1@2]", "[5~,1~]", "[5@1,1@2]"),
        // Another link takes the place of one that is not seen.
        ("[1@1,2@2]", "[1@9,2~]", "[1@9,2@2]"),
        // Not clear.
        ("[1@1,2@2]", "[2~,3~]", nil), ("[1@1,2@2]", "[7~]", nil), ("[1@1,2@2]", "[7~,8~,9~]", nil), ("[1@1,1@2]", "[1~]", nil),
        ("[1@1,2@2,3~]", "[5~,1~,3~]", nil),
        // Nothing unseen is lost.
        ("[1~,2@9]", "[7~]", "[7~]"), ("[1@1,2~]", "[1~,5~,6~]", "[1@1,5~,6~]"), ("[1@1,2~,3~]", "[3~,1~,4~]", "[3~,1@1,4~]"),
    ]

    @Test func `elements of an assigned list keep their links, and what is not clear is refused`() throws {
        let desk = try Desk(#""es":[]"#)
        for (before, assigned, after) in Self.lists {
            let body = Self.expanded(assigned)
            let ways: [(String, () throws -> HTTPClient.Answer)] = [
                ("PUT of the property", { try desk.put("es", assigned) }),
                ("PUT", { try desk.server.request("PUT", Self.path, desk.part, body: #"{"es":\#(body)}"#) }),
                ("PATCH", { try desk.server.request("PATCH", Self.path, desk.part, body: #"{"es":\#(body)}"#) }),
                (
                    "PATCH of all",
                    {
                        try desk.server.request(
                            "PATCH", "/v1/realms/app/objects/S?where=TRUEPREDICATE", desk.part, body: #"{"es":\#(body)}"#)
                    }
                ),
                ("JSON Patch", { try desk.jsonPatch(#"{"op":"replace","path":"/es","value":\#(body)}"#) }),
                (
                    "upsert",
                    {
                        try desk.server.request(
                            "POST", "/v1/realms/app/objects/S?upsert=modified", desk.part, body: #"{"id":1,"es":\#(body)}"#)
                    }
                ),
                (
                    "import",
                    {
                        try desk.server.request(
                            "POST", "/v1/realms/app/import?class=S&mode=upsert", desk.part,
                            [("Content-Type", "application/x-ndjson")],
                            body: #"{"id":1,"es":\#(body)}"#)
                    }
                ),
            ]
            for (name, write) in ways {
                try desk.reset(#""es":\#(before)"#)
                let answer = try write()
                let place = "\(name), \(before), \(assigned): \(answer.text)"
                if let after {
                    #expect(answer.status < 300, "\(place)")
                    #expect(try desk.stored("es") == after, "\(place)")
                } else {
                    #expect(answer.code == "forbidden" && answer.text.contains("one at a time"), "\(place)")
                    #expect(try desk.stored("es") == before, "\(place)")
                }
            }
        }
        // Without anything that could be lost nothing is refused.
        try desk.reset(#""es":[1@1,2@2]"#)
        #expect(try desk.put("es", "[7~]", by: desk.admin).status < 300)
        #expect(try desk.stored("es") == "[7~]")
    }

    @Test func `single embedded objects and those of dictionaries keep what is not seen of them`() throws {
        let desk = try Desk(#""e":1@1,"d":{"x":1@1,"y":2@2}"#)
        #expect(try desk.put("e", "2~").status < 300)
        #expect(try desk.stored("e") == "2@1")
        #expect(try desk.put("e", #"{"a":3,"in":{"n":4}}"#).status < 300)
        #expect(try desk.stored("e") == "3@1in:{n:4,to:null}")
        #expect(try desk.put("e", #"{"a":3,"in":{"n":4,"to":@1}}"#, by: desk.admin).status < 300)
        #expect(try desk.put("e", #"{"in":{"n":5}}"#).status < 300)
        #expect(try desk.stored("e") == "null~in:{n:5,to:@1}")
        #expect(try desk.put("e", "null").status < 300)
        #expect(try desk.put("e", "1~").status < 300)
        #expect(try desk.stored("e") == "1~", "what is removed goes with its parts")
        #expect(try desk.put("d", #"{"y":5~,"z":6~}"#).status < 300)
        #expect(try desk.stored("d") == "{y:5@2,z:6~}")
        #expect(try desk.put("d", #"{"y":5@9}"#).status < 300)
        #expect(try desk.stored("d") == "{y:5@9}")
    }

    @Test func `elements that an edit names keep what is not seen of them, and a move is refused if it would lose it`() throws {
        let desk = try Desk(#""e":1@1,"es":[1@1,2@2,3~],"d":{"x":1@1},"m":{"k":@1,"l":[@2]},"md":{"k":{"h":@1},"o":@2}"#)
        #expect(try desk.jsonPatch(#"{"op":"replace","path":"/es/1","value":7~}"#).status == 200)
        #expect(try desk.stored("es") == "[1@1,7@2,3~]")
        #expect(try desk.jsonPatch(#"{"op":"add","path":"/es/0","value":0~},{"op":"remove","path":"/es/1"}"#).status == 200)
        #expect(try desk.stored("es") == "[0~,7@2,3~]")
        #expect(try desk.jsonPatch(#"{"op":"move","from":"/es/1","path":"/es/0"}"#).status == 200)
        #expect(try desk.stored("es") == "[7@2,0~,3~]")
        let edit = { (kind: String, property: String, steps: String) in
            try desk.server.request(
                "POST", "/v1/realms/app/batch", desk.part,
                body: Self.expanded(
                    #"{"ops":[{"\#(kind)":{"class":"S","key":"1","property":"\#(property)","ops":[\#(steps)]}}]}"#))
        }
        #expect(try edit("list", "es", #"{"set":[0,8~]}"#).status == 200)
        #expect(try desk.stored("es") == "[8@2,0~,3~]")
        #expect(try edit("dictionary", "d", #"{"set":["x",8~]}"#).status == 200)
        #expect(try desk.stored("d") == "{x:8@1}")
        for (from, path) in [("/e", "/f"), ("/es/0", "/f"), ("/d", "/f"), ("/m", "/v"), ("/md/k", "/m"), ("/es", "/m")] {
            let answer = try desk.jsonPatch(#"{"op":"move","from":"\#(from)","path":"\#(path)"}"#)
            #expect(answer.code == "forbidden", "\(from): \(answer.text)")
        }
        #expect(try desk.jsonPatch(#"{"op":"move","from":"/es/2","path":"/f"}"#).status == 200)
        #expect(try desk.jsonPatch(#"{"op":"copy","from":"/es/0","path":"/es/-"}"#).status == 200)
        #expect(try desk.stored("es") == "[8@2,0~,8~]")
        #expect(try desk.stored("f") == "3~")
        #expect(try desk.jsonPatch(#"{"op":"move","from":"/md/o","path":"/m"}"#).status == 200)
        #expect(try desk.stored("md") == "{k:{h:@1},o:@2}")
    }

    @Test func `collections in mixed values keep links that are not seen`() throws {
        let mixed = #"{"x":@1,"y":@9,"l":[1,@2,{"z":@3}],"n":{"w":@4}}"#
        let desk = try Desk(#""m":\#(mixed),"ms":[@1,[@2,1],5,{"k":@3}],"md":{"p":\#(mixed),"q":@2,"r":3}"#)
        let before = try ["m", "ms", "md"].map { try desk.stored($0) }
        for property in ["m", "ms", "md"] {
            let seen = try desk.server.request("GET", Self.path + "?meta=none", desk.part).json[property]?.serialized ?? ""
            #expect(try desk.put(property, seen).status < 300)
        }
        #expect(try ["m", "ms", "md"].map { try desk.stored($0) } == before)
        #expect(try desk.put("m", #"{"y":1,"l":[2,{"z":null}],"n":{}}"#).status < 300)
        #expect(try desk.stored("m") == "{l:[2,{z:@3},@2],n:{w:@4},x:@1,y:1}")
        #expect(try desk.put("ms", #"[[2],{"k":null},6]"#).status < 300)
        #expect(try desk.stored("ms") == "[[2,@2],{k:@3},6,@1]")
        #expect(try desk.put("ms", #"[{"u":1},[1],[2]]"#).code == "forbidden")
        #expect(try desk.put("md", #"{"p":{"l":[1,{}]}}"#).status < 300)
        #expect(try desk.stored("md") == "{p:{l:[1,{z:@3},@2],x:@1},q:@2}")
        #expect(try desk.put("m", "7").status < 300)
        #expect(try desk.stored("m") == "7", "a value of another kind takes the place of all")
    }

    @Test func `lists of links that are assigned as they are seen keep their order`() throws {
        let desk = try Desk(#""vs":[@1,@9,@2,@9,@3]"#)
        #expect(try desk.put("vs", "[@9,@9]").status < 300)
        #expect(try desk.stored("vs") == "[@1,@9,@2,@9,@3]")
        #expect(try desk.put("vs", "[@9]").status < 300)
        #expect(try desk.stored("vs") == "[@9,@1,@2,@3]")
    }

    @Test func `links that are assigned as the objects that a list shows keep their order`() throws {
        let desk = try Desk(#""vs":[@1,@9,@2,@9]"#)
        let read = { try desk.server.request("GET", Self.path + "?expand=vs&meta=none", desk.editor) }
        let seen = try #require(try read().json["vs"])
        #expect(Self.short(seen) == "[{id:9,pub:true},{id:9,pub:true}]")
        let send = { (method: String, path: String, body: String) in
            try desk.server.request(method, path, desk.editor, body: body)
        }
        let objects = #"[{"id":9,"pub":true},{"id":9,"pub":true}]"#
        for (method, path, body) in [
            ("PUT", Self.path + "/vs?nested=upsert", objects),
            ("PATCH", Self.path + "?nested=upsert", #"{"vs":\#(objects)}"#),
            ("POST", "/v1/realms/app/objects/S?upsert=all&nested=upsert", #"[{"id":1,"vs":[9,{"id":9}]}]"#),
        ] {
            let answer = try send(method, path, body)
            #expect(answer.status < 300, "\(answer.text)")
            #expect(try desk.stored("vs") == "[@1,@9,@2,@9]", "\(method)")
        }
        #expect(try send("PUT", Self.path + "/vs?nested=upsert", #"[{"id":8},{"id":9},{"id":9}]"#).status == 409)
        #expect(try desk.stored("vs") == "[@1,@9,@2,@9]")
        #expect(try send("PUT", Self.path + "/vs?nested=upsert", #"[{"id":10,"pub":true},{"id":9}]"#).status < 300)
        #expect(try desk.stored("vs") == "[@10,@9,@1,@2]")
    }

    /// Properties that are hidden, or may only be read, in embedded objects of lists and dictionaries.
    @Test func `hidden and read-only properties of elements stay`() throws {
        let element = { (number: Int) in #"{"a":\#(number),"t":"t\#(number)","r":"r\#(number)"}"# }
        let desk = try Desk(#""es":[\#(element(1)),\#(element(2))],"d":{"x":\#(element(3))}"#)
        let read = try desk.server.request("GET", Self.path + "?meta=none", desk.hide)
        #expect(!read.text.contains("t1"))
        for method in ["PUT", "PATCH"] {
            let answer = try desk.server.request(method, Self.path, desk.hide, body: read.text)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try desk.stored("es") == #"[1~t:"t1" r:"r1",2~t:"t2" r:"r2"]"#)
            #expect(try desk.stored("d") == #"{x:3~t:"t3" r:"r3"}"#)
        }
        #expect(try desk.put("es", #"[{"a":2,"r":"r2"},{"a":7}]"#, by: desk.hide).code == "forbidden")
        #expect(try desk.put("es", #"[{"a":5},{"a":2,"r":"r2"}]"#, by: desk.hide).status < 300)
        #expect(try desk.stored("es") == #"[5~t:"t1" r:"r1",2~t:"t2" r:"r2"]"#)
        #expect(try desk.put("es", #"[{"a":5,"r":"other"},{"a":2}]"#, by: desk.hide).code == "forbidden")
        // The refusal says nothing of the values: those that are null are treated alike.
        try desk.reset(#""es":[{"a":1},{"a":2}]"#)
        #expect(try desk.put("es", #"[{"a":7}]"#, by: desk.hide).code == "forbidden")
        #expect(try desk.put("es", "[]", by: desk.hide).status < 300)
        #expect(try desk.put("es", #"[{"a":7}]"#, by: desk.hide).status < 300)
    }

    @Test func `who does not see the object replaces its lists`() throws {
        let desk = try Desk(#""es":[1@1,2@2]"#)
        let answer = try desk.server.request(
            "POST", "/v1/realms/app/import?class=S&mode=upsert", desk.loader, [("Content-Type", "application/x-ndjson")],
            body: #"{"id":1,"es":[{"a":7},{"a":2},{"a":3}]}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try desk.stored("es") == "[7~,2~,3~]")
    }

    /// Long lists are compared in time that grows with their length.
    @Test func `a long list is turned around`() throws {
        let count = 1500
        let elements = { (order: [Int], mark: String) in order.map { "\($0)\(mark)" }.joined(separator: ",") }
        let desk = try Desk(#""es":[\#(elements(Array(0..<count), "@1"))]"#)
        let turned = elements((0..<count).reversed(), "~")
        let answer = try desk.put("es", "[\(turned)]")
        #expect(answer.status < 300, "\(answer.text)")
        #expect(try desk.stored("es") == "[\(elements((0..<count).reversed(), "@1"))]")
    }
}
