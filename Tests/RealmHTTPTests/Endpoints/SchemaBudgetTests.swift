// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation
import Glibc
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Schemas have bounds, and what is made for each class is made once.
@Suite struct SchemaBudgetTests {
    private func property(_ number: Int) -> String { #"{"name":"p\#(number)","type":"int"}"# }

    private func schema(classes: Int, properties: Int) -> String {
        let list = (0..<properties).map(property).joined(separator: ",")
        let all = (0..<classes).map { #"{"name":"C\#($0)","properties":[\#(list)]}"# }.joined(separator: ",")
        return #"{"schemaVersion":1,"classes":[\#(all)]}"#
    }

    @Test func `classes and properties have bounds when a realm is made`() throws {
        try withWriteServer { server in
            for (schema, limit) in [(schema(classes: 1001, properties: 1), 1000), (schema(classes: 1, properties: 1001), 1000)] {
                let answer = try server.attach(#"{"name":"big","schema":\#(schema)}"#)
                #expect(answer.status == 422)
                #expect(answer.code == "invalid_schema")
                #expect(answer.json["limit"]?.int == limit)
            }
            let answer1 = try server.attach(#"{"name":"fits","schema":\#(schema(classes: 2, properties: 1000))}"#)
            #expect(answer1.status == 201)
        }
    }

    @Test func `migrations cannot go beyond them`() throws {
        try withWriteServer(change: {
            try? $0.limits.apply("properties=15")
            try? $0.limits.apply("classes=8")
        }) { server in
            let columns = (0..<16).map { #"{"addProperty":{"class":"Note","property":\#(property($0))}}"# }.joined(separator: ",")
            let answer = try server.send("POST", "app/migrations", #"{"fromVersion":0,"toVersion":1,"steps":[\#(columns)]}"#)
            #expect(answer.code == "invalid_schema", "\(answer.text)")
            #expect(answer.json["limit"]?.int == 15, "\(answer.text)")
            let classes = (0..<3).map { #"{"addClass":{"name":"New\#($0)","properties":[]}}"# }.joined(separator: ",")
            let answer2 = try server.send("POST", "app/migrations", #"{"fromVersion":0,"toVersion":1,"steps":[\#(classes)]}"#)
            #expect(answer2.json["limit"]?.int == 8)
        }
    }

    @Test func `embedded classes with many ways through them cost what classes cost`() throws {
        // Sixteen classes, each with four links to the next: four to the sixteenth ways.
        let embedded = (0..<16).map { level in
            let links =
                level == 15
                ? #"{"name":"end","type":"int"}"#
                : (0..<4).map { #"{"name":"l\#($0)","type":"object","objectType":"E\#(level + 1)"}"# }.joined(separator: ",")
            return #"{"name":"E\#(level)","type":"embedded","properties":[\#(links)]}"#
        }
        let root =
            #"{"name":"R","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"e","type":"object","objectType":"E0"}]}"#
        try withWriteServer { server in
            let body = #"{"name":"tree","schema":{"classes":[\#(root),\#(embedded.joined(separator: ","))]}}"#
            let made = try server.attach(body)
            #expect(made.status == 201)
            let begin = Instant.now()
            #expect(try server.get("tree/objects/R?limit=1").status == 200)
            #expect(try server.send("POST", "tree/objects/R", #"{"id":1,"e":{"l0":{"l3":{}}}}"#).status == 201)
            #expect(try server.get("tree/objects/R/1").text.contains(#""l3":{"l0":null"#))
            for path in [
                "tree/schema", "tree/openapi.json", "tree/export", "tree/objects/R?format=csv", "tree/objects/R?expand=e",
            ] {
                #expect(try server.get(path).status == 200, "\(path)")
            }
            #expect(Instant.now().seconds(since: begin) < 10)
        }
    }

    @Test func `embedded classes lie a hundred levels deep at most`() throws {
        try withWriteServer { server in
            let answer3 = try server.attach(#"{"name":"deep","schema":{"classes":[\#(chain(100, end: "int"))]}}"#)
            #expect(answer3.status == 201)
            let answer4 = try server.attach(#"{"name":"deeper","schema":{"classes":[\#(chain(101, end: "int"))]}}"#)
            #expect(answer4.code == "invalid_schema")
        }
    }

    /// A class `R` and so many embedded classes, each within the one before; the last has a property `end`.
    private func chain(_ levels: Int, end: String) -> String {
        let embedded = (0..<levels).map { level in
            let link =
                level == levels - 1
                ? #"{"name":"end","type":"\#(end)"}"# : #"{"name":"n","type":"object","objectType":"E\#(level + 1)"}"#
            return #"{"name":"E\#(level)","type":"embedded","properties":[\#(link)]}"#
        }
        let root =
            #"{"name":"R","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"e","type":"object","objectType":"E0"}]}"#
        return ([root] + embedded).joined(separator: ",")
    }

    @Test func `embedded objects more than sixteen levels deep are shown and exported whole`() throws {
        let levels = 40
        let classes = chain(levels, end: "int")
        try withWriteServer { server in
            let answer5 = try server.attach(#"{"name":"nest","schema":{"classes":[\#(classes)]}}"#)
            #expect(answer5.status == 201)
            let object =
                String(repeating: #"{"n":"#, count: levels - 1) + #"{"end":7}"# + String(repeating: "}", count: levels - 1)
            let answer6 = try server.send("POST", "nest/objects/R", #"{"id":1,"e":\#(object)}"#)
            #expect(answer6.status == 201)
            let answer7 = try server.get("nest/objects/R/1")
            #expect(answer7.text.contains(#""e":\#(object)"#))
            #expect(try server.get("nest/export").text.contains(object))
        }
    }

    @Test func `an export as deep as it can be is imported again`() throws {
        let levels = 100
        let classes = chain(levels, end: "mixed")
        func nested(_ count: Int, _ inner: String) -> String {
            String(repeating: #"{"n":"#, count: count) + inner + String(repeating: "}", count: count)
        }
        try withWriteServer { server in
            #expect(try server.attach(#"{"name":"nest","schema":{"classes":[\#(classes)]}}"#).status == 201)
            #expect(try server.send("POST", "nest/objects/R", #"{"id":1,"e":\#(nested(50, "{}"))}"#).status == 201)
            let collections = String(repeating: "[", count: 5) + "7" + String(repeating: "]", count: 5)
            let path = "/e" + String(repeating: "/n", count: 51)
            let patch = #"[{"op":"add","path":"\#(path)","value":\#(nested(48, #"{"end":\#(collections)}"#))}]"#
            #expect(
                try server.send("PATCH", "nest/objects/R/1", patch, [("Content-Type", "application/json-patch+json")]).status
                    == 200)
            let export = try server.get("nest/export").text
            #expect(export.contains(nested(99, #"{"end":\#(collections)}"#)))
            #expect(try server.attach(#"{"name":"copy"}"#).status == 201)
            let answer = try server.send("POST", "copy/import", export, [("Content-Type", "application/x-ndjson")])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.get("copy/export").text.contains(nested(99, #"{"end":\#(collections)}"#)))
        }
    }

    @Test func `documents written class by class are those made at once`() throws {
        let server = try TestServer(["links", "store"])
        for realm in ["links", "store"] {
            let answer = try server.get("/v1/realms/\(realm)/openapi.json")
            guard case .ready(let database)? = server.server.state.catalog[realm] else {
                Issue.record("\(realm) is not open")
                continue
            }
            let snapshot = database.current.snapshot
            let description = OpenAPIRealm(realm: realm, snapshot: snapshot, limits: server.server.state.limits)
            #expect(answer.text == description.document(version: Build.version).json)
            let schema = RealmSchema(snapshot)
            for format in SchemaFormat.allCases {
                #expect(
                    try server.get("/v1/realms/\(realm)/schema?format=\(format.rawValue)").text == format.text(schema),
                    "\(format)")
            }
        }
    }

    @Test func `documents about schemas have a bound`() throws {
        try withWriteServer(change: { try? $0.limits.apply("answer-bytes=1024") }) { server in
            for path in ["app/openapi.json", "app/schema", "app/schema?format=typescript"] {
                let answer = try server.get(path)
                #expect(answer.code == "answer_too_large", "\(path)")
            }
        }
    }

    /// The processor time in which a class of so many properties is made and committed, in seconds. What the thread that writes has
    /// used does not depend on what else the machine does; another thread may take over between two writes, and then it is made
    /// once more.
    private func secondsToMake(_ count: Int) throws -> Double {
        for _ in 0..<20 {
            if let seconds = try secondsOfOneThread(count) { return seconds }
        }
        throw WriteServer.Damaged(description: "the thread that writes has changed each time")
    }

    private func secondsOfOneThread(_ count: Int) throws -> Double? {
        let realm = try TemporaryRealm()
        var limits = WriteLimits()
        limits.properties = 60_000
        let properties = (0..<count).map {
            PropertyInput("p\($0)", $0 % 5 == 0 ? "string" : "int", indexed: $0 % 7 == 0 ? "general" : nil)
        }
        let made = try EngineRealm(path: realm.path, limits: limits)
        let before = try made.write { _ in Self.threadSeconds() }.value
        try made.write { session in try session.createSchema(SchemaInput(classes: [ClassInput("Wide", properties)])) }
        let after = try made.write { _ in Self.threadSeconds() }.value
        try made.finish()
        return before.thread == after.thread ? after.seconds - before.seconds : nil
    }

    /// The calling thread, and the processor time that it has used.
    private static func threadSeconds() -> (thread: UInt, seconds: Double) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return (UInt(pthread_self()), Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    @Test func `many properties are made in little time`() throws {
        // A cost that grows with the square is sixteen times as much as for a quarter of them.
        let (few, many) = try (secondsToMake(1500), secondsToMake(6000))
        #expect(few > 0.01)
        #expect(many < 9 * few, "\(many) s and \(few) s")
    }
}
