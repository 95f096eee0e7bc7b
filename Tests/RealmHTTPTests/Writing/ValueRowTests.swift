// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Rows D29 to D32, D37 to D40 and D63 of the checklist: objects, their values, links and keys.
@Suite struct ValueRowTests {
    @Test func `D29: an object is made, read, changed and deleted at its address`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = "app/objects/Dog/12"
            #expect(try server.get(path).status == 404)
            #expect(try server.send("POST", "app/objects/Dog", #"{"_id":12,"age":1}"#)["Location"] == "/v1/realms/" + path)
            #expect(try server.get(path).json["age"]?.int == 1)
            #expect(try server.send("PATCH", path, #"{"age":2}"#).status == 200)
            #expect(try server.get(path).json["age"]?.int == 2)
            #expect(try server.send("DELETE", path).status == 204)
            #expect(try server.get(path).status == 404)
        }
    }

    private static let extremes: [(property: String, values: [String])] = [
        ("flag", ["true", "false", "null"]),
        ("int", ["9223372036854775807", "-9223372036854775808", "0", "null"]),
        ("float", ["3.4028235e+38", "1e-45", "-0.0", "1.1754944e-38", "\"NaN\"", "\"Infinity\"", "\"-Infinity\"", "null"]),
        ("double", ["1.7976931348623157e+308", "5e-324", "-0.0", "0.1", "\"NaN\"", "\"-Infinity\"", "null"]),
        ("decimal", ["\"9.999999999999999999999999999999999E+6144\"", "\"-1E-6176\"", "\"NaN\"", "null"]),
        (
            "date",
            [
                "\"0001-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59.999999999Z\"", "\"1969-12-31T23:59:59.999999999Z\"",
                #"{"$instant":{"seconds":"9223372036854775807","nanoseconds":999999999}}"#, "null",
            ]
        ),
        ("data", ["\"\"", "\"AA==\"", "\"/+8=\"", "null"]),
        ("oid", ["\"ffffffffffffffffffffffff\"", "\"000000000000000000000000\"", "null"]),
        ("uuid", ["\"ffffffff-ffff-ffff-ffff-ffffffffffff\"", "\"00000000-0000-0000-0000-000000000000\"", "null"]),
        ("text", ["\"\"", "\"\\u0000\"", "\"\u{10ffff}\"", "\"e\u{301}\"", #"{"$bytes":"/w=="}"#, "null"]),
        (
            "mixed",
            [
                "9223372036854775807", "1.0", #"{"$numberFloat":"1e-45"}"#, #"{"$numberDecimal":"1.50"}"#, "\"\"", "[[[]]]",
                #"{"a":{"b":[null]}}"#, "null",
            ]
        ),
    ]

    @Test func `D30: the extremes of every type come back as they were given, to the last bit`() throws {
        try withWriteServer { (server: WriteServer) throws in
            for (property, values) in ValueRowTests.extremes {
                for value in values {
                    let answer = try server.done("PATCH", "app/objects/Value/1", "{\"\(property)\":\(value)}")
                    let text = try server.show("Value/1")
                    #expect(text.contains("\"\(property)\":\(value)"), "\(property) \(value): \(text)")
                    let again = try server.done("PUT", "app/objects/Value/1", answer.text)
                    #expect(again["ETag"] == answer["ETag"], "\(property) \(value)")
                }
            }
        }
    }

    @Test func `D31: a link is set, followed and cleared, and is null when its target is gone`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func owner() throws -> String { try server.value("Dog/2/owner") }
            #expect(try owner() == "null")
            for form in [#""ann""#, #"{"$link":{"class":"Person","key":"ann"}}"#] {
                try server.done("PATCH", "app/objects/Dog/2", #"{"owner":\#(form)}"#)
                #expect(try owner().contains(#""class":"Person","key":"ann""#))
                #expect(
                    (try server.get("app/objects/Dog/2?expand=owner").json["owner"])?["id"]?.text
                        == "ann")
                #expect(try server.get("app/objects/Person/ann/@links/Dog/owner?count=exact").json["count"]?.int == 2)
                try server.done("PATCH", "app/objects/Dog/2", #"{"owner":null}"#)
                #expect(try owner() == "null")
                #expect(try server.get("app/objects/Person/ann/@links/Dog/owner?count=exact").json["count"]?.int == 1)
            }
            try server.done("DELETE", "app/objects/Person/ann")
            #expect(try server.value("Dog/1/owner") == "null")
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"owner":"ann"}"#).code == "link_target_missing")
        }
    }

    @Test func `D1, D32: lists of links keep order and duplicates, and lose what is deleted`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func dogs() throws -> [String] {
                let links = try server.get("app/objects/Person/ann").json["dogs"]?.elements ?? []
                return links.compactMap { $0["$link"]?["key"]?.text }
            }
            try server.done("PATCH", "app/objects/Person/ann", #"{"dogs":[2,1,{"$link":{"class":"Dog","key":"2"}},2]}"#)
            #expect(try dogs() == ["2", "1", "2", "2"])
            try server.done(
                "PATCH", "app/objects/Person/ann",
                #"[{"op":"move","from":"/dogs/1","path":"/dogs/0"},{"op":"remove","path":"/dogs/3"}]"#, WriteServer.jsonPatch)
            #expect(try dogs() == ["1", "2", "2"])
            try server.done("DELETE", "app/objects/Dog/2")
            #expect(try dogs() == ["1"])
        }
    }

    @Test(arguments: [
        ("Dog", "_id", "-7", "-7"), ("Person", "id", "\"a/b\"", "a%2Fb"), ("Person", "id", "null", "@null"),
        ("Person", "id", "\"\"", "@empty"),
        ("Person", "id", "\"@x\"", "@@x"), ("Oid", "_id", "\"507f1f77bcf86cd799439011\"", "507f1f77bcf86cd799439011"),
        ("Uid", "_id", "\"58715190-0c58-42bc-ab54-f775cb3b694a\"", "58715190-0c58-42bc-ab54-f775cb3b694a"),
    ])
    func `D37: an object is found by its primary key, whatever its type`(
        _ className: String, _ property: String, _ value: String, _ key: String
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            let more = className == "Dog" ? #","age":1"# : ""
            let made = try server.done("POST", "app/objects/\(className)?upsert=all", #"{"\#(property)":\#(value)\#(more)}"#)
            #expect(made.status == 201 && made["Location"] == "/v1/realms/app/objects/\(className)/\(key)")
            #expect(try server.get("app/objects/\(className)/\(key)").text == made.text)
            #expect(
                try server.send("POST", "app/objects/\(className)?upsert=modified", #"{"\#(property)":\#(value)\#(more)}"#).status
                    == 200)
            #expect(try server.send("PUT", "app/objects/\(className)/\(key)", "{\(more.dropFirst())}").status == 200)
            #expect(
                try server.send("POST", "app/objects/\(className)", #"{"\#(property)":\#(value)\#(more)}"#).code
                    == "duplicate_key")
        }
    }

    @Test func `D38: a commit tells the name of a changed property, and its value before and after`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4,"name":null,"owner":null}"#)
            #expect(recorder.takeProperties() == ["Dog.age: 3 -> 4", "Dog.name: Rex -> null", "Dog.owner: link -> null"])
            try server.done("PATCH", "app/objects/Dog/1", #"{"tags":["x"]}"#)
            #expect(recorder.takeProperties() == ["Dog.tags"])
        }
    }

    @Test func `D39: generated ids are 12 bytes that begin with the time, all different and ascending; given ones are read`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let before = Int(Date().timeIntervalSince1970)
            let many = try server.done(
                "POST", "app/objects/Oid", "[" + Array(repeating: "{}", count: 200).joined(separator: ",") + "]")
            let keys = many.json["keys"]?.texts ?? []
            let after = Int(Date().timeIntervalSince1970)
            #expect(Set(keys).count == 200 && keys.allSatisfy { $0.count == 24 && $0 == $0.lowercased() })
            #expect(Set(keys.map { $0.dropFirst(8).prefix(10) }).count == 1)
            for key in keys { #expect((before...after).contains(Int(key.prefix(8), radix: 16) ?? 0)) }
            // The counter may begin anew in the middle; but for that they ascend.
            let breaks = zip(keys, keys.dropFirst()).count { $0 >= $1 }
            #expect(breaks <= 1)
            #expect(
                try server.send("POST", "app/objects/Oid", #"{"_id":"507F1F77BCF86CD799439011"}"#)["Location"]?.hasSuffix(
                    "507f1f77bcf86cd799439011") == true)
            for wrong in ["507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g", ""] {
                #expect(try server.send("POST", "app/objects/Oid", #"{"_id":"\#(wrong)"}"#).code == "type_mismatch", "\(wrong)")
            }
        }
    }

    @Test func `D40: objects sorted by generated ids stand in the order they were made`() throws {
        try withWriteServer { (server: WriteServer) throws in
            var made: [String] = []
            let start = Instant.now()
            for round in 0..<5 {
                // The ids are those of different seconds, and of more than three in all.
                #expect(eventually { Instant.now().seconds(since: start) > Double(round) * 0.8 })
                made.append(try server.done("POST", "app/objects/Oid", "{}").json["_id"]?.text ?? "")
            }
            let sorted = (try server.get("app/objects/Oid?sort=_id").json["items"]?.elements ?? []).compactMap {
                $0["_id"]?.text
            }
            #expect(sorted == made && Set(made.map { $0.prefix(8) }).count > 3)
            let falling = (try server.get("app/objects/Oid?sort=-_id").json["items"]?.elements ?? []).compactMap {
                $0["_id"]?.text
            }
            #expect(falling == made.reversed())
        }
    }

    @Test func `D63: a primary key never changes, whoever tries`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"_id":2}"#).code == "primary_key_immutable")
            #expect(try server.send("PATCH", "app/objects/Dog?where=_id==1", #"{"_id":2}"#).code == "primary_key_immutable")
            #expect(try server.send("PUT", "app/objects/Dog/1/_id", "2").code == "primary_key_immutable")
            #expect(try server.send("PUT", "app/objects/Dog/1", #"{"_id":2,"age":1}"#).code == "key_mismatch")
            #expect(
                try server.send(
                    "PATCH", "app/objects/Dog/1", #"[{"op":"replace","path":"/_id","value":2}]"#, WriteServer.jsonPatch
                ).code == "primary_key_immutable")
            #expect(
                try server.batch(#"{"increment":{"class":"Dog","key":"1","property":"_id","by":1}}"#).code
                    == "primary_key_immutable")
            #expect(try server.send("PATCH", "app/objects/Person/ann", #"{"id":null}"#).status == 422)
            #expect(try server.bytes() == bytes)
            #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"_id":1,"age":4}"#).status == 200)
            for key in ["null", "\"\""] {
                #expect(try server.send("POST", "app/objects/Person", #"{"id":\#(key)}"#).status == 201)
            }
            #expect(
                try server.get("app/objects/Person/@null").status == 200 && server.get("app/objects/Person/@empty").status == 200)
        }
    }
}
