// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Writes of objects over a socket, and what is there afterwards. Features A46–A52, C3, C4, C16, D1, D3, D4, D12, D13.
@Suite struct ObjectWriteTests {
    @Test(arguments: ["chip.code", "chips[0]", "chips[0].size", "marks.art", "any.k"])
    func `a path can be read alone, and writing to it says what to send`(_ path: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            let answer = try server.send("PUT", "app/objects/Dog/1/\(path)", "1")
            #expect(answer.status == 404, "\(answer.text)")
            #expect(answer.text.contains("a path can be read alone: PUT the whole property"), "\(answer.text)")
            #expect(try !server.send("PUT", "app/objects/Dog/1/agee", "1").text.contains("a path can be read"))
        }
    }

    @Test func `A46: a created object is where Location says, with the tag of the answer`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let answer = try server.send("POST", "app/objects/Dog", #"{"_id":7,"age":1,"name":"é/1","$$odd":"x"}"#)
            #expect(answer.status == 201)
            #expect(answer["Location"] == "/v1/realms/app/objects/Dog/7")
            let read = try server.get("app/objects/Dog/7")
            #expect(read.text == answer.text)
            #expect(read["ETag"] == answer["ETag"])
            #expect(read["Realm-Version"] == answer["Realm-Version"])
            #expect(answer["Cache-Control"] == "no-store")
            #expect(read.json["$$odd"]?.text == "x")
        }
    }

    @Test func `keys that are given by nobody are made up, and keys are encoded in Location`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let oid = try server.send("POST", "app/objects/Oid", "{}")
            #expect(oid.status == 201)
            #expect(oid.json["_id"]?.text?.count == 24)
            let uid = try server.send("POST", "app/objects/Uid", "{}")
            #expect(uid.json["_id"]?.text?.count == 36)
            let odd = try server.send("POST", "app/objects/Person", #"{"id":"a/b %"}"#)
            #expect(odd["Location"] == "/v1/realms/app/objects/Person/a%2Fb%20%25")
            #expect(try server.get("app/objects/Person/a%2Fb%20%25").status == 200)
            #expect(try server.send("POST", "app/objects/Person", #"{"id":null}"#)["Location"]?.hasSuffix("/@null") == true)
            #expect(try server.send("POST", "app/objects/Person", #"{"id":""}"#)["Location"]?.hasSuffix("/@empty") == true)
            #expect(try server.send("POST", "app/objects/Note", #"{"text":"t"}"#)["Location"]?.hasSuffix("/@k1") == true)
        }
    }

    @Test func `A47: arrays and lines create all or none`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let array = try server.send(
                "POST", "app/objects/Dog",
                #"[{"_id":11,"age":1},{"_id":12,"age":2,"owner":{"$link":{"class":"Person","key":"ann"}}}]"#)
            #expect(array.status == 201)
            #expect(array.json["created"]?.int == 2)
            #expect(array.json["keys"]?.texts == ["11", "12"])
            let lines = try server.send(
                "POST", "app/objects/Dog", "{\"_id\":13,\"age\":1}\n{\"_id\":14,\"age\":2}\n",
                [("Content-Type", "application/x-ndjson"), ("Prefer", "return=representation")])
            #expect(lines.status == 201)
            #expect(lines.json["items"]?.elements?.count == 2)
            let packed = try server.send(
                "POST", "app/objects/Note", "[" + Array(repeating: #"{"text":"t"}"#, count: 300).joined(separator: ",") + "]",
                [("Accept-Encoding", "gzip")])
            #expect(packed.status == 201)
            #expect(packed["Content-Encoding"] == "gzip")
            #expect(lines["Preference-Applied"] == "return=representation")
            #expect(try server.send("POST", "app/objects/Dog", #"[{"_id":21,"age":1},{"_id":11,"age":2}]"#).status == 409)
            #expect(try server.get("app/objects/Dog/21").status == 404)
            #expect(try server.get("app/objects/Dog?count=exact&limit=0").json["count"]?.int == 6)
        }
    }

    @Test func `A47: a thousand objects share one version`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let before = try server.get("app/objects/Dog")["Realm-Version"]
            let objects = (100..<1100).map { #"{"_id":\#($0),"age":\#($0 % 7)}"# }.joined(separator: ",")
            let answer = try server.send("POST", "app/objects/Dog", "[\(objects)]")
            #expect(answer.json["created"]?.int == 1000)
            #expect(WriteServer.number(answer["Realm-Version"]) == WriteServer.number(before) + 1)
            let deleted = try server.send("DELETE", "app/objects/Dog?where=_id%20%3E=%20100%20AND%20age%20==%203")
            #expect(deleted.json["matched"]?.int == 143)
        }
    }

    @Test func `A48, A49: upsert writes into what is there, and counts both`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let one = try server.send("POST", "app/objects/Dog?upsert=modified", #"{"_id":1,"age":3,"name":null}"#)
            #expect(one.status == 200)
            #expect(one.json["tags"]?.texts == ["a", "b"])
            #expect(one.json["name"] == .null)
            let many = try server.send("POST", "app/objects/Dog?upsert=all", #"[{"_id":1,"age":4},{"_id":9,"age":4}]"#)
            #expect(many.status == 201)
            #expect(many.json["created"]?.int == 1)
            #expect(many.json["updated"]?.int == 1)
            #expect(try server.send("POST", "app/objects/Dog?upsert=all", #"[{"_id":1,"age":4}]"#).status == 200)
        }
    }

    @Test func `A48: PUT creates and replaces the whole object`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.send("PUT", "app/objects/Dog/5", #"{"age":1}"#).status == 201)
            let replaced = try server.send("PUT", "app/objects/Dog/1", #"{"_id":1,"age":2}"#)
            #expect(replaced.status == 200)
            let expected =
                #"{"_id":1,"name":null,"age":2,"tags":[],"marks":{},"any":null,"owner":null,"chip":null,"ids":[],"notes":[],"chips":[],"$$odd":null}"#
            #expect(try server.show("Dog/1") == expected)
            #expect(try server.get("app/objects/Chip?count=exact").json["count"]?.int == 2)
            #expect(try server.send("PUT", "app/objects/Note/@k0", #"{"text":"new"}"#).status == 200)
        }
    }

    @Test(arguments: [
        (#"{"age":4}"#, "age", "4"), (#"{"name":null}"#, "name", "null"), (#"{"tags":["z"]}"#, "tags", #"["z"]"#),
        (#"{"marks":{"art":null,"new":2}}"#, "marks", #"{"new":2}"#),
        (#"{"chip":{"size":3}}"#, "chip", #"{"code":"c1","size":3}"#),
        (#"{"chip":null}"#, "chip", "null"), (#"{"ids":[5,5,4]}"#, "ids", "[4,5]"),
        (#"{"any":{"a":null}}"#, "any", #"{"a":null}"#),
        (#"{"owner":null}"#, "owner", "null"), (#"{"notes":[null]}"#, "notes", "[null]"),
        (#"{"_id":1,"$meta":5}"#, "_id", "1"),
        (#"{"$$odd":"o"}"#, "$odd", #""o""#),
    ])
    func `merge patches change what they name`(_ body: String, _ property: String, _ expected: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(
                try server.send("PATCH", "app/objects/Dog/1", body, [("Content-Type", "application/merge-patch+json")]).status
                    == 200)
            let text = try server.show("Dog/1")
            let name = property.hasPrefix("$") ? "$" + property : property
            #expect(text.contains("\"\(name)\":\(expected)"), "\(text)")
        }
    }

    @Test(arguments: [
        (#"[{"op":"add","path":"/tags/-","value":"z"}]"#, #""tags":["a","b","z"]"#),
        (#"[{"op":"add","path":"/tags/0","value":"z"}]"#, #""tags":["z","a","b"]"#),
        (#"[{"op":"remove","path":"/tags/0"}]"#, #""tags":["b"]"#),
        (#"[{"op":"replace","path":"/tags/1","value":"q"}]"#, #""tags":["a","q"]"#),
        (#"[{"op":"move","from":"/tags/0","path":"/tags/1"}]"#, #""tags":["b","a"]"#),
        (#"[{"op":"copy","from":"/tags/0","path":"/tags/-"}]"#, #""tags":["a","b","a"]"#),
        (#"[{"op":"add","path":"/marks/x","value":5}]"#, #""marks":{"art":1,"x":5}"#),
        (#"[{"op":"remove","path":"/marks/art"}]"#, #""marks":{}"#),
        (#"[{"op":"replace","path":"/chip/code","value":"new"}]"#, #""chip":{"code":"new","size":null}"#),
        (#"[{"op":"remove","path":"/chip"}]"#, #""chip":null"#),
        (#"[{"op":"add","path":"/any/1/k2","value":2}]"#, #""any":[1,{"k":"v","k2":2}]"#),
        (#"[{"op":"add","path":"/ids/-","value":9}]"#, #""ids":[1,2,9]"#),
        (#"[{"op":"remove","path":"/ids/0"}]"#, #""ids":[2]"#),
        (#"[{"op":"test","path":"/name","value":"Rex"},{"op":"remove","path":"/name"}]"#, #""name":null"#),
        (#"[{"op":"add","path":"/$$odd","value":"o"}]"#, #""$$odd":"o""#),
    ])
    func `D4: JSON patches change elements, entries and members`(_ body: String, _ expected: String) throws {
        try withWriteServer { (server: WriteServer) throws in
            let answer = try server.send("PATCH", "app/objects/Dog/1", body, [("Content-Type", "application/json-patch+json")])
            #expect(answer.status == 200, "\(answer.text)")
            let text = try server.show("Dog/1")
            #expect(text.contains(expected), "\(text)")
        }
    }

    @Test func `A50, C3: deleting takes embedded objects along and leaves no link`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let answer = try server.send("DELETE", "app/objects/Dog/2")
            #expect(answer.status == 204)
            #expect(answer.body.isEmpty)
            #expect(try server.get("app/objects/Dog/2").status == 404)
            #expect(try server.show("Person/ann").contains(#""dogs":[{"$link":{"class":"Dog","key":"1"}}]"#))
            #expect(try server.get("app/objects/Chip?count=exact").json["count"]?.int == 1)
        }
    }

    @Test func `A51: many objects are changed and deleted by a query`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let changed = try server.send("PATCH", "app/objects/Dog?where=age%20%3E%20$0&args=[1]&maxAffected=2", #"{"age":1}"#)
            #expect(changed.json["matched"]?.int == 2)
            #expect(changed.json["version"]?.text == changed["Realm-Version"])
            #expect(try server.get("app/objects/Dog?where=age==1&count=exact").json["count"]?.int == 2)
            #expect(try server.send("DELETE", "app/objects/Dog?where=TRUEPREDICATE").json["matched"]?.int == 2)
        }
    }

    @Test func `A52: all objects go, and the schema stays`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let schema = try server.get("app/schema").text
            let answer = try server.send("DELETE", "app/objects?confirm=all")
            #expect(answer.json["matched"]?.int == 5)
            #expect(try server.get("app").json["empty"]?.bool == true)
            #expect(try server.get("app/schema").text == schema)
        }
    }

    @Test func `one property is set by JSON or by raw bytes`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.send("PUT", "app/objects/Dog/1/tags", #"["q"]"#).status == 204)
            #expect(try server.show("Dog/1").contains(#""tags":["q"]"#))
            #expect(try server.send("PUT", "app/objects/Dog/1/$odd", #""o""#).status == 204)
            #expect(
                try server.send("PUT", "app/objects/Value/1/data", "\u{1}abc", [("Content-Type", "application/octet-stream")])
                    .status == 204)
            #expect(
                try server.get("app/objects/Value/1/data", [("Accept", "application/octet-stream")]).body
                    == Array("\u{1}abc".utf8))
        }
    }

    @Test func `A46: nested objects are written only when the request says so`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let body = #"{"_id":30,"age":1,"owner":{"id":"bob","dogs":[{"_id":31,"age":2}]}}"#
            #expect(try server.send("POST", "app/objects/Dog", body).code == "nested_object")
            #expect(try server.send("POST", "app/objects/Dog?nested=upsert", body).status == 201)
            #expect(try server.show("Person/bob").contains(#""key":"31""#))
        }
    }

    @Test func `preferences decide what the answer shows`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let minimal = try server.send("POST", "app/objects/Dog", #"{"_id":40,"age":1}"#, [("Prefer", "return=minimal")])
            #expect(minimal.status == 201)
            #expect(minimal.body.isEmpty)
            #expect(minimal["ETag"] != nil && minimal["Location"] != nil)
            #expect(minimal["Preference-Applied"] == "return=minimal")
            #expect(try server.send("PATCH", "app/objects/Dog/40", #"{"age":2}"#, [("Prefer", "return=minimal")]).status == 204)
            #expect(try server.send("PATCH", "app/objects/Dog/40", #"{"agee":3}"#).text.contains("did you mean 'age'?"))
            let lenient = try server.send("PATCH", "app/objects/Dog/40", #"{"age":3,"agee":1}"#, [("Prefer", "handling=lenient")])
            #expect(lenient.status == 200)
            #expect(lenient["Preference-Applied"] == "handling=lenient")
            let ejson = try server.send("PATCH", "app/objects/Dog/40", #"{"age":3}"#, [("Accept", "application/ejson")])
            #expect(ejson.text.contains(#""age":{"$numberLong":"3"}"#))
        }
    }

    @Test func `a dry run answers as the write would, and leaves no trace`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let create = try server.send("POST", "app/objects/Dog?dryRun=true", #"{"_id":50,"age":1}"#)
            #expect(create.status == 200)
            #expect(create.json["committed"]?.bool == false)
            #expect(create.json["status"]?.int == 201)
            #expect(create.json["body"]?["_id"]?.int == 50)
            #expect(create["Location"] == nil && create["ETag"] == nil)
            #expect(try server.send("DELETE", "app/objects/Dog/1?dryRun=true").json["status"]?.int == 204)
            #expect(try server.send("DELETE", "app/objects/Dog?where=TRUEPREDICATE&dryRun=true").json["status"]?.int == 200)
            let batch = try server.send("POST", "app/batch?dryRun=true", #"{"ops":[{"delete":{"class":"Dog","key":"1"}}]}"#)
            #expect(batch.json["committed"]?.bool == false)
            #expect(try server.send("POST", "app/objects/Dog?dryRun=true", #"{"_id":1,"age":1}"#).code == "duplicate_key")
            #expect(try server.bytes() == bytes)
        }
    }

    @Test func `what is only read refuses every write`() throws {
        let server = try WriteServer { $0.isReadOnly = true }
        for (method, path) in [
            ("POST", "app/objects/Dog"), ("PUT", "app/objects/Dog/1"), ("DELETE", "app/objects"), ("POST", "app/batch"),
            ("POST", "app/migrations"), ("POST", ""),
        ] {
            let answer = try server.send(method, path, "{}")
            #expect(path.isEmpty ? answer.status == 404 : answer.code == "read_only", "\(path)")
            if !path.isEmpty { #expect(answer["Allow"]?.contains(method) == false) }
        }
        #expect(try server.get("app").json["mode"]?.text == "ro")
        try server.finish()
    }
}

extension WriteServer {
    /// The number in a version token.
    static func number(_ token: String?) -> Int { token?.split(separator: ".").last.flatMap { Int($0) } ?? -1 }
}
