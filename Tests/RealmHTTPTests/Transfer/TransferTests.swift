// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
@testable import RealmCalls
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Exports and imports: what goes out comes in again.
@Suite struct TransferTests {
    private static let lines = [("Content-Type", "application/x-ndjson")]

    @Test func `an export is the same realm again, cycles included`() throws {
        let server = try WriteServer()
        try server.fill()
        _ = try server.send("PATCH", "app/objects/Dog/2", #"{"any":[{"$link":{"class":"Note","key":"@k0"}}],"owner":"ann"}"#)
        let first = try server.get("app/export")
        #expect(first.status == 200)
        #expect(first["Content-Type"] == "application/x-ndjson")
        #expect(first.text.hasPrefix(#"{"$begin":{"format":1,"#))
        #expect(first.text.hasSuffix("{\"$end\":{\"objects\":5}}\n"))
        let created = try HTTPClient.request(
            port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(#"{"name":"copy"}"#.utf8))
        #expect(created.status == 201)
        let answer = try server.send("POST", "copy/import", first.text, TransferTests.lines)
        #expect(answer.json["created"]?.int == 5, "\(answer.text)")
        let second = try server.get("copy/export").text
        #expect(TransferTests.comparable(second) == TransferTests.comparable(first.text))
        #expect(try server.get("app/export?format=json").json["objects"]?.members != nil)
        let csv = try server.get("app/export?format=csv&class=Note").text
        #expect(csv == "$key,text\r\n@k0,n\r\n")
        let some = try server.get("app/export?class=Dog&where=age%20%3E%20$0&args=[4]").text
        #expect(some.split(separator: "\n").count == 3)
        try server.finish()
    }

    /// Without what names the file: version and tags.
    private static func comparable(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            String(line).replacing(/,"version":"[^"]*"/, with: "").replacing(/"etag":"\\"[^"]*\\""/, with: "")
        }
    }

    @Test(arguments: [
        ("{\"_id\":1,\"age\":1}\n{\"_id\":2,\"age\":\"x\"}", "?class=Dog", 422, "type_mismatch", 2),
        ("{\"_id\":1,\"age\":1}\n{\"_id\":1,\"age\":1}", "?class=Dog", 409, "duplicate_key", 2),
        ("{\"_id\":1,\"age\":1,\"owner\":\"x\"}\n", "?class=Dog", 422, "link_target_missing", 1),
        ("{\"_id\":1,\"age\":1}\n", "", 400, "invalid_body", 1),
        ("{\"_id\":1,\"age\":1}\n{", "?class=Dog", 400, "invalid_json", 2),
        ("{\"$begin\":{\"format\":1,\"schema\":{\"classes\":[]}}}\n", "", 400, "invalid_body", nil),
        ("{\"$meta\":{\"class\":\"Cat\"}}\n", "", 404, "class_not_found", 1),
        ("{}\n", "?class=Dog&mode=some", 400, "invalid_parameter", nil),
    ])
    func `an import is all or nothing, and names the line that is wrong`(
        _ body: String, _ query: String, _ status: Int, _ code: String, _ line: Int?
    ) throws {
        let server = try WriteServer()
        let bytes = try server.bytes()
        let answer = try server.send("POST", "app/import" + query, body, TransferTests.lines)
        #expect(answer.status == status, "\(answer.text)")
        #expect(answer.code == code)
        #expect(answer.json["line"]?.int == line)
        #expect(try server.bytes() == bytes)
        try server.finish()
    }

    @Test func `an import writes into what is there when it is told to`() throws {
        let server = try WriteServer()
        try server.fill()
        let body = "{\"_id\":1,\"age\":9,\"owner\":\"ann\"}\n{\"_id\":3,\"age\":9}\n"
        #expect(try server.send("POST", "app/import?class=Dog", body, TransferTests.lines).code == "duplicate_key")
        let dry = try server.send("POST", "app/import?class=Dog&mode=upsert&dryRun=true", body, TransferTests.lines)
        #expect(dry.json["body"]?["updated"]?.int == 1, "\(dry.text)")
        let answer = try server.send("POST", "app/import?class=Dog&mode=upsert", body, TransferTests.lines)
        #expect(answer.json["created"]?.int == 1)
        #expect(answer.json["updated"]?.int == 1)
        #expect(try server.get("app/objects/Dog/1").json["tags"]?.texts == ["a", "b"])
        try server.finish()
    }

    @Test func `CSV comes in as it went out`() throws {
        let server = try WriteServer()
        try server.fill()
        _ = try server.send("PUT", "app/objects/Dog/3", #"{"age":3,"name":"a \"b\", c\nd","any":1.0}"#)
        _ = try server.send("PUT", "app/objects/Dog/4", #"{"age":4,"name":"","any":"x"}"#)
        let first = try server.get("app/export?format=csv&class=Dog")
        #expect(try server.send("DELETE", "app/objects/Dog?where=TRUEPREDICATE").status == 200)
        let answer = try server.send("POST", "app/import?class=Dog", first.text, [("Content-Type", "text/csv")])
        #expect(answer.json["created"]?.int == 4, "\(answer.text)")
        #expect(try server.get("app/export?format=csv&class=Dog").text == first.text)
        let type = [("Content-Type", "text/csv")]
        #expect(try server.send("POST", "app/import?class=Dog", "_id,age\r\n8,x\r\n", type).json["line"]?.int == 2)
        #expect(try server.send("POST", "app/import?class=Dog", "_id,age\r\n8\r\n", type).code == "invalid_body")
        #expect(try server.send("POST", "app/import?class=Dog", "_id,age\r\n\"8", type).code == "invalid_body")
        #expect(try server.send("POST", "app/import", "_id\r\n8\r\n", type).code == "invalid_parameter")
        #expect(try server.send("POST", "app/import?class=Dog", "_id,age,agee\r\n8,1,2\r\n", type).code == "unknown_property")
        try server.finish()
    }

    @Test func `an import in parts commits now and then, and tells how far it came`() throws {
        let server = try WriteServer { $0.limits.importBytes = 8 << 20 }
        // The first object links to the last one, which comes a commit later.
        var lines = [#"{"$meta":{"class":"Person","key":"p"},"id":"p","dogs":[{"$link":{"class":"Dog","key":"20999"}}]}"#]
        lines += (0..<21_000).map { #"{"$meta":{"class":"Dog","key":"\#($0)"},"_id":\#($0),"age":1}"# }
        let before = WriteServer.number(try server.get("app")["Realm-Version"])
        let answer = try server.send("POST", "app/import?atomic=false", lines.joined(separator: "\n"), TransferTests.lines)
        #expect(answer.json["created"]?.int == 21_001, "\(answer.text)")
        // The first commit has 10,000 objects; a busy machine needs more commits for the others.
        #expect((before + 2...before + 10).contains(WriteServer.number(answer["Realm-Version"])))
        #expect(try server.show("Person/p").contains(#""key":"20999""#))
        let more = (30_000..<45_000).map { #"{"_id":\#($0 == 42_000 ? 1 : $0),"age":1}"# }
        let failed = try server.send(
            "POST", "app/import?atomic=false&class=Dog", more.joined(separator: "\n"), TransferTests.lines)
        #expect(failed.code == "duplicate_key")
        #expect(failed.json["line"]?.int == 12_001)
        // What is right before that line is there, though it belongs to the same part.
        #expect(failed.json["committed"]?.int == 12_000)
        #expect(try server.get("app/objects/Dog?count=exact&limit=0").json["count"]?.int == 33_000)
        try server.finish()
    }

    /// Within the first MiB both forms worked; beyond it a bare key was that of an object which is missing.
    @Test(arguments: ["application/x-ndjson", "application/json"], ["create", "upsert"])
    func `a bare key is a link to an object that comes later, however far`(_ type: String, _ mode: String) throws {
        let server = try WriteServer { $0.limits.importBytes = 16 << 20 }
        let pad = String(repeating: "x", count: 200)
        func dog(_ id: Int, _ more: String = "") -> String {
            #"{"$meta":{"class":"Dog"},"_id":\#(id),"age":1,"name":"\#(pad)"\#(more)}"#
        }
        var lines = [
            #"{"$meta":{"class":"Person"},"id":"p","dogs":[90000,90001],"friends":["z"],"pets":{"a":90001,"b":null}}"#,
            dog(1, #","owner":"z""#),
        ]
        lines += (2..<12_000).map { dog($0) }
        lines += [dog(90_000, #","owner":"p""#), dog(90_001), #"{"$meta":{"class":"Person"},"id":"z"}"#]
        let isArray = type == "application/json"
        let body = isArray ? "[" + lines.joined(separator: ",") + "]" : lines.joined(separator: "\n")
        #expect(body.utf8.count > 2 << 20)
        let answer = try server.send("POST", "app/import?mode=\(mode)", body, [("Content-Type", type)])
        #expect(answer.json["created"]?.int == lines.count, "\(answer.text)")
        let person = try server.show("Person/p")
        for link in [#""key":"90000""#, #""key":"90001""#, #""key":"z""#] { #expect(person.contains(link), "\(person)") }
        #expect(try server.show("Dog/1").contains(#""key":"z""#))
        #expect(try server.show("Dog/90000").contains(#""key":"p""#))
        // What never comes is still an error, with its line.
        let missing = try server.send(
            "POST", "app/import?class=Dog", #"{"_id":-1,"age":1,"owner":"nobody"}"#, TransferTests.lines)
        #expect(missing.status == 422 && missing.code == "link_target_missing" && missing.json["line"]?.int == 1)
        #expect(missing.json["pointer"]?.text == "/owner", "\(missing.text)")
        try server.finish()
    }

    /// The large fixtures are for long runs.
    private static let exportable = Fixtures.names.filter { name in
        !name.hasPrefix("bench") && (TestRun.isLong || !["blob-16m", "store", "table-70000"].contains(name))
    }

    @Test(arguments: exportable) func `fixtures come in as they went out`(_ name: String) throws {
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name), key: key))
        let exported = try TransferTests.export(snapshot)
        let realm = try EngineRealm([])
        let reader = ImportReader(ImportSource(Array(exported.utf8)), className: nil, bounds: JSONBounds(depth: 200))
        try realm.write(EngineRealm.request(seconds: 600), waiting: 600) { session in
            try ImportRun(session, .create).run(reader)
        }
        let again = try TransferTests.export(realm.database.current.snapshot)
        let wanted = TransferTests.renumbered(TransferTests.comparable(exported))
        let found = TransferTests.renumbered(TransferTests.comparable(again))
        #expect(found.count == wanted.count)
        for (left, right) in zip(found, wanted) where left != right {
            Issue.record("\(left.prefix(2000)) instead of \(right.prefix(2000))")
            break
        }
        try realm.finish()
    }

    private static func export(_ snapshot: Snapshot) throws -> String {
        var text = ""
        try ExportStream(try StreamRows(allOf: snapshot), version: "0", format: .ndjson).forEachChunk {
            text += String(decoding: $0, as: UTF8.self)
        }
        return text
    }

    /// Objects without primary key by their order: their keys are new in another file.
    private static func renumbered(_ lines: [String]) -> [String] {
        var numbers: [Substring: Int] = [:]
        for line in lines {
            guard let match = line.firstMatch(of: /^\{"\$meta":(\{"class":"[^"]*","key":"@k\d+")/) else { continue }
            numbers[match.1] = numbers.count
        }
        return lines.map { line in
            line.replacing(/\{"class":"[^"]*","key":"@k\d+"/) { match in "{\"object\":\(numbers[match.0] ?? -1)" }
        }
    }
}
