// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Part C of the checklist: embedded objects.
@Suite struct EmbeddedRowTests {
    private static let classes = [
        ClassInput(
            "Owner", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("name", "string", optional: true),
                PropertyInput("child", "object", objectType: "Node"),
                PropertyInput("kids", "object", collection: "list", objectType: "Node"),
                PropertyInput("byName", "object", collection: "dictionary", objectType: "Node"),
            ]),
        ClassInput(
            "Node", type: "embedded",
            [
                PropertyInput("name", "string"), PropertyInput("note", "string", optional: true),
                PropertyInput("inner", "object", objectType: "Leaf"),
                PropertyInput("leaves", "object", collection: "list", objectType: "Leaf"),
                PropertyInput("numbers", "int", collection: "list", optional: true),
            ]),
        ClassInput(
            "Leaf", type: "embedded",
            [
                PropertyInput("n", "int"), PropertyInput("friend", "object", objectType: "Owner"),
            ]),
    ]

    /// An owner with a child, two kids and one by name, each with leaves: 4 nodes, 6 leaves.
    private static let owner = """
        {"_id":1,"name":"o","child":{"name":"c","inner":{"n":1},"leaves":[{"n":2},{"n":3,"friend":1}],"numbers":[1,null]},\
        "kids":[{"name":"k0","leaves":[{"n":4}]},{"name":"k1","inner":{"n":5}}],"byName":{"a":{"name":"b","leaves":[{"n":6}]}}}
        """

    private func withOwner(
        change: (inout ServerOptions) -> Void = { _ in }, _ body: (WriteServer) throws -> Void
    ) throws {
        try withWriteServer(EmbeddedRowTests.classes, change: change) { server in
            try server.done("POST", "app/objects/Owner", EmbeddedRowTests.owner)
            #expect(try server.count("Node") == 4 && server.count("Leaf") == 6)
            try body(server)
        }
    }

    // MARK: - Rules

    @Test func `C1: an embedded object has one owner, which may be embedded itself, and no address to write to`() throws {
        try withOwner { (server: WriteServer) throws in
            let refused = try server.send("POST", "app/objects/Node", #"{"name":"x"}"#)
            #expect(refused.status == 405 && refused["Allow"]?.contains("POST") == false)
            let nodes = try server.get("app/objects/Node").json["items"]?.elements ?? []
            let owners = nodes.compactMap { $0["$meta"]?["owner"] }
            #expect(
                owners.compactMap { $0["property"]?.text }.sorted() == ["byName.a", "child", "kids[0]", "kids[1]"],
                "\(owners)")
            #expect(owners.allSatisfy { $0["class"]?.text == "Owner" && $0["key"]?.text == "1" })
            let leaves = try server.get("app/objects/Leaf").json["items"]?.elements ?? []
            #expect(
                leaves.count == 6 && leaves.allSatisfy { $0["$meta"]?["owner"] != nil })
            #expect(nodes.allSatisfy { $0["$meta"]?["root"] == nil })
        }
    }

    @Test func `C1: an embedded object inside of another one tells by which path it can be written`() throws {
        try withOwner { (server: WriteServer) throws in
            let leaves = try server.get("app/objects/Leaf?sort=n").json["items"]?.elements ?? []
            let roots = leaves.compactMap { $0["$meta"]?["root"] }
            #expect(roots.allSatisfy { $0["class"]?.text == "Owner" && $0["key"]?.text == "1" })
            let paths = roots.compactMap { $0["path"]?.text }
            let expected = [
                "/child/inner", "/child/leaves/0", "/child/leaves/1", "/kids/0/leaves/0", "/kids/1/inner", "/byName/a/leaves/0",
            ]
            #expect(paths == expected, "\(leaves)")
            #expect(leaves.allSatisfy { $0["$meta"]?["owner"]?["class"]?.text == "Node" })
            for (index, path) in paths.enumerated() {
                let patch = #"[{"op":"replace","path":"\#(path)/n","value":\#(100 + index)}]"#
                try server.done("PATCH", "app/objects/Owner/1", patch, WriteServer.jsonPatch)
            }
            let written = try server.get("app/objects/Leaf?sort=n").json["items"]?.elements?.compactMap { $0["n"]?.int }
            #expect(written == [100, 101, 102, 103, 104, 105])
            let one = try #require(leaves[3]["$meta"]?["key"]?.text)
            #expect(try server.get("app/objects/Leaf/" + one).json["$meta"]?["root"]?["path"]?.text == expected[3])
        }
    }

    @Test func `C2: embedded objects come into being inside their owner only`() throws {
        try withOwner { (server: WriteServer) throws in
            let bytes = try server.bytes()
            for (method, path) in [
                ("POST", "app/objects/Leaf"), ("PUT", "app/objects/Leaf/@k0"), ("PATCH", "app/objects/Leaf/@k0"),
                ("PATCH", "app/objects/Leaf?where=TRUEPREDICATE"),
            ] {
                #expect(try server.send(method, path, #"{"n":1}"#).code == "method_not_allowed", "\(method)")
            }
            #expect(try server.send("DELETE", "app/objects/Leaf/@k0").status == 405)
            #expect(try server.batch(#"{"create":{"class":"Leaf","body":{"n":1}}}"#).status == 405)
            #expect(try server.bytes() == bytes)
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":{"inner":{"n":10}}}"#)
            try server.done(
                "PATCH", "app/objects/Owner/1",
                #"[{"op":"add","path":"/kids/0/inner","value":{"n":11}},{"op":"add","path":"/kids/-","value":{"name":"k2"}}]"#,
                WriteServer.jsonPatch)
            #expect(try server.count("Node") == 5 && server.count("Leaf") == 7)
        }
    }

    @Test func `C3: embedded objects are deleted with their owner, at every level`() throws {
        try withOwner { (server: WriteServer) throws in
            try server.done("POST", "app/objects/Owner", #"{"_id":2,"child":{"name":"x","inner":{"n":1}}}"#)
            try server.done("DELETE", "app/objects/Owner/1")
            #expect(try server.count("Node") == 1 && server.count("Leaf") == 1)
            try server.done("DELETE", "app/objects/Owner?where=TRUEPREDICATE")
            #expect(try server.count("Node") == 0 && server.count("Leaf") == 0)
        }
    }

    @Test(arguments: [
        (#"[{"op":"replace","path":"/child","value":{"name":"new"}}]"#, 4, 3), (#"[{"op":"remove","path":"/child"}]"#, 3, 3),
        (#"[{"op":"remove","path":"/kids/0"}]"#, 3, 5), (#"[{"op":"replace","path":"/kids/1","value":{"name":"n"}}]"#, 4, 5),
        (#"[{"op":"replace","path":"/kids","value":[]}]"#, 2, 4), (#"[{"op":"remove","path":"/byName/a"}]"#, 3, 5),
        (#"[{"op":"add","path":"/byName/a","value":null}]"#, 3, 5), (#"[{"op":"remove","path":"/child/inner"}]"#, 4, 5),
        (#"[{"op":"move","from":"/kids/0","path":"/kids/1"}]"#, 4, 6),
    ])
    func `C4: an embedded object goes when its place is set anew, set to null, or removed from its list`(
        _ patch: String, _ nodes: Int, _ leaves: Int
    ) throws {
        try withOwner { (server: WriteServer) throws in
            try server.done("PATCH", "app/objects/Owner/1", patch, WriteServer.jsonPatch)
            #expect(try server.count("Node") == nodes && server.count("Leaf") == leaves)
        }
    }

    @Test(arguments: [
        #"{"_id":2,"child":{"$link":{"class":"Node","key":"@k0"}}}"#,
        #"{"_id":2,"kids":[{"$link":{"class":"Node","key":"@k0"}}]}"#,
        #"{"_id":2,"byName":{"x":{"$link":{"class":"Node","key":"@k0"}}}}"#,
    ])
    func `C5: nothing else can link to an embedded object`(_ body: String) throws {
        try withOwner { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let answer = try server.send("POST", "app/objects/Owner", body)
            #expect(answer.status == 422 && answer.code == "type_mismatch", "\(answer.text)")
            #expect(try server.bytes() == bytes)
        }
    }

    @Test func `C6: embedded objects hold embedded objects, lists of them, and links to objects of their own`() throws {
        try withOwner { (server: WriteServer) throws in
            let first = try server.show("Owner/1")
            try server.done("PUT", "app/objects/Owner/1", first)
            #expect(try server.show("Owner/1") == first)
            let expected =
                #""leaves":[{"n":2,"friend":null},{"n":3,"friend":{"$link":{"class":"Owner","key":"1"}}}],"numbers":[1,null]"#
            #expect(try server.show("Owner/1").contains(expected))
            #expect(
                try server.get("app/objects/Owner?where=ANY%20child.leaves.friend.name=='o'&count=exact").json["count"]?.int
                    == 1)
        }
    }

    @Test(arguments: [
        #"{"setPrimaryKey":{"class":"Node","name":"name"}}"#,
        #"{"addClass":{"name":"New","type":"embedded","primaryKey":"a","properties":[{"name":"a","type":"int"}]}}"#,
        #"{"setIndex":{"class":"Node","name":"name","indexed":"general"}}"#,
        #"{"setIndex":{"class":"Node","name":"name","indexed":"fulltext"}}"#,
        #"{"addProperty":{"class":"Leaf","property":{"name":"m","type":"int","indexed":"general"}}}"#,
        #"{"addClass":{"name":"New","type":"embedded","properties":[{"name":"a","type":"int","indexed":"general"}]}}"#,
    ])
    func `C7: an embedded class has no primary key and no index`(_ step: String) throws {
        try withOwner { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let answer = try server.send("POST", "app/migrations", #"{"fromVersion":0,"toVersion":1,"steps":[\#(step)]}"#)
            #expect(answer.status == 422 && answer.code == "invalid_schema", "\(answer.text)")
            #expect(answer.json["pointer"]?.text?.hasPrefix("/steps/0/") == true, "\(answer.text)")
            #expect(try server.bytes() == bytes)
        }
    }

    // MARK: - Members

    @Test func `C8, C9: an embedded object is made from an object of JSON; an array of values is none`() throws {
        try withOwner { (server: WriteServer) throws in
            let dry = try server.done("PUT", "app/objects/Owner/2?dryRun=true", #"{"child":{"name":"x"}}"#)
            #expect(dry.json["body"]?["child"]?["name"]?.text == "x")
            #expect(try server.count("Node") == 4)
            let array = try server.send("PUT", "app/objects/Owner/2", #"{"child":["x",null,null,[],[]]}"#)
            #expect(array.status == 422 && array.code == "type_mismatch" && array.json["pointer"]?.text == "/child")
            #expect(try server.done("PUT", "app/objects/Owner/2", #"{"child":{"name":"x"}}"#).status == 201)
            #expect(try server.value("Owner/2/child") == #"{"name":"x","note":null,"inner":null,"leaves":[],"numbers":[]}"#)
        }
    }

    @Test func `C10, C12: an embedded class tells its name without prefix, and its schema`() throws {
        try withOwner { (server: WriteServer) throws in
            let schema = try server.get("app/schema/Node").json
            #expect(
                schema["name"]?.text == "Node" && schema["type"]?.text == "embedded" && schema["primaryKey"] == .null)
            let properties = schema["properties"]?.elements ?? []
            #expect(properties.compactMap { $0["name"]?.text } == ["name", "note", "inner", "leaves", "numbers"])
            #expect(properties.compactMap { $0["objectType"]?.text } == ["Leaf", "Leaf"])
            #expect(
                (try server.get("app/objects/Node?limit=1").json["items"]?.elements)?.first?["$meta"].map {
                    "\($0)".contains("Node")
                } == true)
        }
    }

    @Test func `C11: embedded objects belong to the realm of their address`() throws {
        try withOwner { (server: WriteServer) throws in
            let schema = try server.get("app/schema").text
            #expect(try server.attach(#"{"inMemory":"m","schema":\#(schema)}"#).status == 201)
            try server.done("PUT", "m/objects/Owner/1", #"{"child":{"name":"other"}}"#)
            #expect(try server.get("m/objects/Owner/1/child").text.contains("other"))
            #expect(try !server.get("app/objects/Owner/1/child").text.contains("other"))
            #expect(try server.get("m/objects/Node?count=exact").json["count"]?.int == 1)
        }
    }

    @Test func `C13: what stood in a place is not there when the place is null, and nothing is when the owner is gone`() throws {
        try withOwner { (server: WriteServer) throws in
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":null}"#)
            #expect(try server.value("Owner/1/child") == "null")
            #expect(try server.get("app/objects/Owner/1/child.inner").status == 404)
            #expect(try server.get("app/objects/Owner/1/kids%5B7%5D").code == "object_not_found")
            try server.done("DELETE", "app/objects/Owner/1")
            #expect(try server.get("app/objects/Owner/1/child").code == "object_not_found")
        }
    }

    @Test func `C14, C25, C26: an answer about embedded objects is of one version; the same address shows the next one`() throws {
        try withOwner { (server: WriteServer) throws in
            let held = try server.database().current
            let pin = try #require(try server.done("POST", "app/snapshots", "{}").json["id"]?.text)
            let before = try server.get("app/objects/Owner/1")
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":{"name":"later","inner":{"n":99}}}"#)
            // The frozen one stays, in its owner and in the list of its class, and takes no writes and no observers.
            for path in ["Owner/1", "Owner/1/child", "Owner/1/child.inner", "Leaf"] {
                let frozen = try server.get("app/objects/\(path)?snapshot=\(pin)")
                let live = try server.get("app/objects/\(path)")
                let later = #""n":99"#
                #expect(
                    frozen.status == 200 && !frozen.text.contains(later) && live.text.contains(later), "\(path): \(frozen.text)")
            }
            #expect(try server.get("app/snapshots/\(pin)").json["behind"]?.int == 1)
            for (method, path, body) in [
                ("PATCH", "objects/Owner/1?snapshot=\(pin)", #"{"child":null}"#),
                ("GET", "changes?class=Owner&key=1&property=child&snapshot=\(pin)", nil),
            ] as [(String, String, String?)] {
                let refused = try server.send(method, "app/" + path, body)
                #expect(refused.status == 400 && refused.code == "conflicting_parameters", "\(refused.text)")
            }
            let after = try server.get("app/objects/Owner/1")
            #expect(before["Realm-Version"] == held.tokenText && after["Realm-Version"] != held.tokenText)
            #expect(after.text.contains("later"))
            // Whoever still reads the version before finds it as it was.
            let leaf = try #require(held.snapshot.classTable(named: "Leaf"))
            let node = try #require(held.snapshot.classTable(named: "Node"))
            #expect(try numbers(leaf, "n") == [1, 2, 3, 4, 5, 6] && node.count == 4)
            let now = try #require(try server.database().current.snapshot.classTable(named: "Leaf"))
            #expect(try numbers(now, "n").contains(99))
        }
    }

    private func numbers(_ table: Table, _ name: String) throws -> [Int64] {
        let column = try #require(table.column(named: name))
        var numbers: [Int64] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for index in 0..<leaf.count {
                if case .int(let number) = try Row(leaf: leaf, index: index).value(column) { numbers.append(number) }
            }
        }
        return numbers.sorted()
    }

    @Test func `C15: without configured defaults what has to be there has to be given`() throws {
        try withOwner { (server: WriteServer) throws in
            for body in [
                #"{"_id":2,"child":{}}"#, #"{"_id":2,"kids":[{"name":"a"},{"note":"n"}]}"#,
                #"{"_id":2,"child":{"name":"a","inner":{}}}"#,
            ] {
                let refused = try server.send("POST", "app/objects/Owner", body)
                #expect(refused.status == 422 && refused.code == "missing_property", "\(refused.text)")
            }
            #expect(try server.send("PATCH", "app/objects/Owner/1", #"{"child":{"inner":{"friend":1}}}"#).status == 200)
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":null}"#)
            #expect(try server.send("PATCH", "app/objects/Owner/1", #"{"child":{"note":"n"}}"#).code == "missing_property")
        }
    }

    @Test func `C16: members that are no properties are refused, or ignored on request`() throws {
        try withOwner { (server: WriteServer) throws in
            let body = #"{"child":{"name":"x","nickname":"y","inner":{"n":1,"m":2}}}"#
            let refused = try server.send("PUT", "app/objects/Owner/2", body)
            #expect(refused.status == 422 && refused.code == "unknown_property")
            #expect(refused.json["pointer"]?.text == "/child/nickname")
            let taken = try server.done("PUT", "app/objects/Owner/2", body, [("Prefer", "handling=lenient")])
            #expect(taken["Preference-Applied"] == "handling=lenient")
            #expect(try server.value("Owner/2/child").contains(#""inner":{"n":1,"friend":null}"#))
        }
    }

    @Test(arguments: [
        (#"{"child":{"name":null}}"#, 422), (#"{"child":null}"#, 200), (#"{"child":{"inner":null}}"#, 200),
        (#"{"child":{"leaves":null}}"#, 422),
        (#"{"kids":null}"#, 422), (#"{"kids":[null]}"#, 422), (#"{"child":{"leaves":[null]}}"#, 422),
        (#"{"child":{"numbers":[null]}}"#, 200),
        (#"{"byName":{"z":null}}"#, 200),
    ])
    func `C17: what has to have a value takes no null; single embedded objects take it, lists of them never`(
        _ body: String, _ status: Int
    ) throws {
        try withOwner { (server: WriteServer) throws in
            let answer = try server.send("PATCH", "app/objects/Owner/1", body)
            #expect(answer.status == status, "\(answer.text)")
            if status == 422 { #expect(answer.code == "null_not_allowed") }
            // The schema says the same.
            let properties = try server.get("app/schema/Node").json["properties"]?.elements ?? []
            #expect(properties.map { $0["optional"]?.bool } == [false, true, true, false, true])
        }
    }

    @Test func `C18: the owner is found from the embedded object, by address and by name`() throws {
        try withOwner(change: { $0.backlinkNames = ["app": BacklinkNames(["Node": ["parents": "Owner.child"]])] }) { server in
            for condition in ["parents._id%20==%201", "@links.Owner.child._id%20==%201"] {
                let found = try server.get("app/objects/Node?where=\(condition)&count=exact")
                #expect(found.json["count"]?.int == 1, "\(found.text)")
            }
            let node = (try server.get("app/objects/Node?where=name=='c'").json["items"]?.elements)?.first
            let key = node?["$meta"]?["key"]?.text ?? "?"
            let owners = try server.get("app/objects/Node/\(key)/@links/Owner/child")
            #expect(owners.text.contains(#""class":"Owner","key":"1""#), "\(owners.text)")
            #expect(try server.send("PATCH", "app/objects/Owner/1", #"{"child":{"parents":[]}}"#).code == "read_only_property")
        }
    }

    @Test
    func `C19, C20: a commit tells which properties of an embedded object were written, equal values too, and when it goes`()
        throws
    {
        try withOwner { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":{"note":"n"}}"#)
            #expect(recorder.takeProperties().contains("Node.note: null -> n"))
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":{"note":"n"}}"#)
            #expect(recorder.takeProperties().contains("Node.note: n -> n"))
            try server.done(
                "PATCH", "app/objects/Owner/1", #"[{"op":"move","from":"/kids/0","path":"/kids/1"}]"#, WriteServer.jsonPatch)
            #expect(recorder.last("Node")?.deleted.isEmpty ?? true)
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":null}"#)
            #expect(recorder.last("Node")?.deleted.count == 1 && recorder.last("Leaf")?.deleted.count == 3)
        }
    }

    @Test func `C21, C22: what was not written inside an embedded object is not told as changed`() throws {
        try withOwner { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":{"note":"n"}}"#)
            #expect(!recorder.takeProperties().contains { $0.hasPrefix("Node.name") || $0.hasPrefix("Leaf") })
            try server.done(
                "PATCH", "app/objects/Owner/1", #"[{"op":"replace","path":"/kids/0/name","value":"new"}]"#, WriteServer.jsonPatch)
            let told = recorder.takeProperties()
            #expect(told.contains("Node.name: k0 -> new") && !told.contains { $0.hasPrefix("Node.note") }, "\(told)")
        }
    }

    @Test func `C23: readers and writers of one embedded object do not disturb each other`() throws {
        try withOwner { (server: WriteServer) throws in
            let torn = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { worker in
                do {
                    let client = try HTTPClient(port: server.port)
                    for round in 0..<15 {
                        if worker == 0 {
                            let body = #"{"child":{"name":"\#(round)","note":"\#(round)","inner":{"n":\#(round)}}}"#
                            _ = try client.request(
                                "PATCH", "/v1/realms/app/objects/Owner/1", headers: [WriteServer.json], body: Array(body.utf8))
                        } else {
                            let child =
                                try client.request("GET", "/v1/realms/app/objects/Owner/1").json["child"]
                            let name = child?["name"]?.text
                            let number = child?["inner"]?["n"]?.int
                            guard name != "c" else { continue }
                            if name != child?["note"]?.text || name != number.map({ "\($0)" }) {
                                torn.withLock { $0.append("\(child ?? .null)") }
                            }
                        }
                    }
                } catch {
                    torn.withLock { $0.append("\(error)") }
                }
            }
            #expect(torn.withLock { $0 } == [])
        }
    }

    @Test func `C24: an embedded object is known by owner and path, which stay the same`() throws {
        try withOwner { (server: WriteServer) throws in
            func paths() throws -> [String] {
                let nodes = try server.get("app/objects/Node?sort=name").json["items"]?.elements ?? []
                return nodes.map { node in
                    let owner = node["$meta"]?["owner"]
                    return ["class", "key", "property"].map { owner?[$0]?.text ?? "?" }.joined(separator: " ")
                }
            }
            let before = try paths()
            try server.done("PATCH", "app/objects/Owner/1", #"{"child":{"note":"n"}}"#)
            #expect(try paths() == before && Set(before).count == 4)
            #expect(try server.value("Owner/1/kids%5B1%5D").contains("k1"))
        }
    }
}
