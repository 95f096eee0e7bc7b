// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Requests that nobody would send, and servers that end in the middle.
@Suite struct HostileWriteTests {
    private static let requests: [(method: String, path: String, body: String, type: String)] = [
        (
            "POST", "objects/Dog",
            #"{"_id":900,"name":"x","age":3,"tags":["a"],"marks":{"k":1},"any":{"l":[1,{"$date":"2026-01-01T00:00:00Z"}]},"chip":{"code":"c"}}"#,
            "application/json"
        ),
        (
            "PUT", "objects/Value/7",
            #"{"int":{"$numberLong":"5"},"decimal":"1.50","float":1.5,"date":{"$date":{"$numberLong":"1"}},"data":"AQID","uuid":{"$uuid":"58715190-0c58-42bc-ab54-f775cb3b694a"}}"#,
            "application/ejson"
        ),
        (
            "PATCH", "objects/Dog/1",
            #"[{"op":"add","path":"/tags/-","value":"z"},{"op":"move","from":"/tags/0","path":"/tags/1"},{"op":"replace","path":"/chip/code","value":"q"}]"#,
            "application/json-patch+json"
        ),
        (
            "PATCH", "objects/Dog?where=age%20%3E%200",
            #"{"marks":{"a":null,"b":2},"owner":{"$link":{"class":"Person","key":"ann"}}}"#, "application/merge-patch+json"
        ),
        (
            "POST", "batch",
            #"{"ops":[{"increment":{"class":"Dog","key":"1","property":"age","by":1}},{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"insert":[0,"y"]},{"move":[0,1]},{"swap":[0,1]}]}},{"assert":{"class":"Dog","where":"age > $0","args":[0]}}]}"#,
            "application/json"
        ),
        (
            "POST", "import?class=Dog&mode=upsert", "{\"_id\":5,\"age\":1}\n{\"_id\":6,\"age\":2,\"owner\":\"ann\"}\n",
            "application/x-ndjson"
        ),
        ("POST", "import?class=Dog&mode=upsert", "_id,age,name,tags\r\n5,1,\"a \"\"b\"\"\",[\"\"]\r\n", "text/csv"),
        (
            "POST", "migrations?dryRun=true",
            #"{"fromVersion":0,"toVersion":1,"steps":[{"addProperty":{"class":"Dog","property":{"name":"new","type":"int"},"value":3}},{"set":{"class":"Dog","where":"age > 1","values":{"name":{"$expr":"name + 'x'"}}}}]}"#,
            "application/json"
        ),
        ("POST", "transactions", #"{"wait":"0s","idle":"1s","lifetime":"1s"}"#, "application/json"),
    ]

    @Test func `no request makes the server fail or damages the file`() throws {
        let server = try WriteServer()
        try server.fill()
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let client = try HTTPClient(port: server.port)
        for round in 0..<(TestRun.isLong ? 20_000 : 600) {
            let request = HostileWriteTests.requests[round % HostileWriteTests.requests.count]
            let body = HostileWriteTests.mutated(Array(request.body.utf8), using: &random)
            let answer = try client.request(
                request.method, "/v1/realms/app/" + request.path, headers: [("Content-Type", request.type)], body: body)
            #expect(
                answer.status < 500, "seed \(seed), round \(round): \(String(decoding: body, as: UTF8.self)) -> \(answer.text)")
            if let id = answer.json["id"]?.text, request.path == "transactions" {
                _ = try client.request("DELETE", "/v1/realms/app/transactions/\(id)")
            }
        }
        try server.finish()
    }

    /// The same bytes with a few changes: some taken away, doubled, exchanged, or replaced by what JSON is made of.
    private static func mutated(_ bytes: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "null", "true", "-1", "9223372036854775807", "1e400", "0.1", "$", "\\u0000",
            "\\ud800", "@k0", "-", "/", "\n", "99999999999999999999",
        ]
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let position = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[position] = UInt8.random(in: 0x20...0x7e, using: &random)
            case 1: bytes.insert(contentsOf: Array((pieces.randomElement(using: &random) ?? "").utf8), at: position)
            case 2:
                let end = min(bytes.count, position + Int.random(in: 1...12, using: &random))
                bytes.removeSubrange(position..<end)
            case 3:
                let end = min(bytes.count, position + Int.random(in: 1...12, using: &random))
                bytes.insert(contentsOf: bytes[position..<end], at: position)
            default:
                let end = min(bytes.count, position + Int.random(in: 1...8, using: &random))
                bytes.replaceSubrange(position..<end, with: Array((pieces.randomElement(using: &random) ?? "").utf8))
            }
            if bytes.isEmpty { bytes = [UInt8(ascii: "x")] }
        }
        return bytes
    }

    @Test func `a server that ends rolls open transactions back and lets waiting writes go`() throws {
        let server = try WriteServer { $0.graceSeconds = 1 }
        try server.fill()
        let bytes = try server.bytes()
        let id = try server.send("POST", "app/transactions", "{}").json["id"]?.text ?? ""
        #expect(try server.send("PATCH", "app/objects/Dog/1", #"{"age":99}"#, [("Realm-Transaction", id)]).status == 200)
        let waiting = Thread { _ = try? server.send("PATCH", "app/objects/Dog/1", #"{"age":98}"#) }
        waiting.start()
        #expect(try eventually { try server.database().pendingWrites == 1 })
        server.server.stop()
        // Either nothing, or the write that waited; never what was not committed.
        let same = try server.bytes() == bytes
        let realm = try RealmEngineReader.age(server.folder + "/app.realm")
        #expect(realm == 98 || (same && realm == 3))
        try server.finish()
    }
}
