// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// What bodies take while they are received, parsed and waiting.
@Suite struct BodyBudgetTests {
    @Test func `JSON has so many values`() throws {
        try withWriteServer { server in
            let many = "[" + Array(repeating: "{}", count: 400_001).joined(separator: ",") + "]"
            let answer = try server.send("POST", "app/objects/Note", many)
            #expect(answer.status == 413)
            #expect(answer.code == "body_too_large")
            #expect(answer.json["limit"]?.int == 400_000)
            #expect(answer.json["limitName"]?.text == "json-values")
            #expect(answer.json["offset"]?.int != nil)
        }
    }

    @Test func `names of members are no values, and words, numbers and texts are`() throws {
        try withWriteServer(change: { try? $0.limits.apply("json-values=100") }) { server in
            let members = (0..<99).map { #""m\#($0)":\#(["true", "1", "\"a:b\"", "null"][$0 % 4])"# }.joined(separator: ",")
            let fits = try server.send("POST", "app/objects/Note", "{" + members + "}")
            let exceeds = try server.send("POST", "app/objects/Note", "{" + members + #","x":1}"#)
            #expect(fits.code == "unknown_property")
            #expect(exceeds.code == "body_too_large")
        }
    }

    @Test func `large batches still work`() throws {
        try withWriteServer { server in
            let operations = (0..<10_000).map {
                #"{"create":{"class":"Dog","body":{"_id":\#(1000 + $0),"name":"n","age":3,"tags":["a"]}}}"#
            }
            let answer1 = try server.send("POST", "app/batch", #"{"ops":[\#(operations.joined(separator: ","))]}"#)
            #expect(answer1.status == 200)
        }
    }

    @Test func `lines of one body share the bound, lines of an import have it each`() throws {
        try withWriteServer(change: { try? $0.limits.apply("json-values=100") }) { server in
            let ndjson = [("Content-Type", "application/x-ndjson")]
            let lines = (0..<60).map { #"{"text":"\#($0)"}"# }.joined(separator: "\n")
            let refused = try server.send("POST", "app/objects/Note", lines, ndjson)
            #expect(refused.code == "body_too_large")
            #expect(try server.send("POST", "app/import?class=Note", lines, ndjson).status == 200)
            let long = #"{"text":[\#(Array(repeating: "1", count: 200).joined(separator: ","))]}"#
            #expect(try server.send("POST", "app/import?class=Note", long, ndjson).code == "body_too_large")
        }
    }

    @Test func `bodies that wait are counted until their turn`() throws {
        try withWriteServer(change: { try? $0.limits.apply("waiting-bytes-per-principal=4194304") }) { server in
            let gate = WriterGate(try server.database())
            try gate.waitUntilHeld()
            let values = "[" + Array(repeating: "1", count: 10_000).joined(separator: ",") + "]"
            var answers: [HTTPClient.Answer] = []
            for number in 0..<8 {
                answers.append(
                    try server.send("POST", "app/objects/Value", #"{"_id":\#(number),"mixed":\#(values)}"#, WriteServer.later))
            }
            // Ten thousand values are more than a megabyte: three of them fit.
            #expect(answers.count { $0.status == 202 } == 3)
            #expect(answers.filter { $0.status != 202 }.allSatisfy { $0.status == 429 && $0["Retry-After"] != nil })
            gate.open()
            #expect(try eventually { try server.send("POST", "app/objects/Note", #"{"text":"\#(values)"}"#).status == 201 })
            #expect(
                try eventually { try server.send("POST", "app/objects/Value", #"{"_id":9,"mixed":\#(values)}"#).status == 201 })
        }
    }

    @Test func `a body beyond the memory for bodies is refused with a time to come again`() throws {
        try withWriteServer(change: { try? $0.limits.apply("waiting-bytes-per-principal=1048576") }) { server in
            let answer = try server.send("POST", "app/objects/Note", #"{"text":"\#(String(repeating: "x", count: 2_000_000))"}"#)
            #expect(answer.status == 429)
            #expect(answer.json["limitName"]?.text == "waiting-bytes-per-principal")
            #expect(answer["Retry-After"] != nil)
            #expect(try server.send("POST", "app/objects/Note", #"{"text":"short"}"#).status == 201)
            #expect(try eventually { try ServerMetrics(port: server.port)["waiting_bytes"] == 0 })
        }
    }
}
