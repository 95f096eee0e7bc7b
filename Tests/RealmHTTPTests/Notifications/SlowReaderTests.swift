// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmHTTP
import RealmTestSupport
import Testing

@Suite("Streamed answers that are read slowly")
struct SlowReaderTests {
    /// A client that took a few bytes now and then could keep a version for as long as it liked.
    @Test("are cut off after their time, and let their version go")
    func cutOff() throws {
        let server = try ChangeServer { $0.limits.answerSeconds = 1 }
        try server.makeRealm(
            "r",
            classes: #"[{"name":"S","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"text","type":"string"}]}]"#)
        let text = String(repeating: "x", count: 4000)
        for start in stride(from: 0, to: 8000, by: 1000) {
            try server.batch("r", (start..<start + 1000).map { "{\"create\":{\"class\":\"S\",\"body\":{\"_id\":\($0),\"text\":\"\(text)\"}}}" })
        }
        let slow = try RawConnection(port: server.port, "/v1/realms/r/export", accept: "application/x-ndjson", receiveBuffer: 4096)
        #expect(slow.read(until: "$begin"))
        try server.must("PATCH", "r/objects/S/1", #"{"text":"new"}"#)
        #expect((try server.must("GET", "r")["liveVersions"]?.integer ?? 0) >= 2)
        Thread.sleep(forTimeInterval: 1.2)
        #expect(slow.readToEnd())
        #expect(!slow.text.contains("$end"))
        #expect(try server.metric("answers_cut_off_total") == 1)
        #expect(try ChangeServer.wait { try server.must("GET", "r")["liveVersions"]?.integer == 1 })
    }
}
