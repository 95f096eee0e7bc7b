// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// A client whose definitions take long to evaluate delays itself.
@Suite struct ObservationTurnsTests {
    /// All definitions of a registration were evaluated first, on the thread that delivers changes to everybody.
    @Test func `others get their changes and polls while a registration is evaluated`() throws {
        let server = try EndlessDefinition.server()
        let stream = try server.stream("app", "class=B&include=keys")
        _ = try stream.next("snapshot")
        _ = try stream.next("ready")
        let client = try EndlessDefinition.register(50, at: server)
        #expect(try eventually { try server.metric("observed_definitions") == 51 })
        let begin = Instant.now()
        for id in 1...10 {
            let version = try server.batch("app", ["{\"create\":{\"class\":\"B\",\"body\":{\"_id\":\(id)}}}"])
            #expect(try stream.next("changes").id == version)
            #expect(try server.poll("app", "class=B&key=\(id)&wait=0")["snapshots"]?.elements?.count == 1)
        }
        // Far below the time of one evaluation.
        #expect(Instant.now().seconds(since: begin) < 60)
        client.socket.reset()
        #expect(try eventually { try server.metric("observed_definitions") ?? 99 <= 11 })
    }

    /// The definition kept the names and keys of the old schema, and was evaluated to the end although nothing could come of it.
    @Test func `a definition is resolved again when the schema changes while it is evaluated`() throws {
        let server = try EndlessDefinition.server()
        let client = try EndlessDefinition.register(1, at: server)
        // It has begun when it keeps a version.
        var id = 0
        let hasBegun = try eventually {
            id += 1
            try server.batch("app", ["{\"create\":{\"class\":\"B\",\"body\":{\"_id\":\(id)}}}"])
            return try server.metric("notifier_held_versions") == 1
        }
        #expect(hasBegun)
        // Without objects it ends at once.
        try server.batch("app", (0..<40).map { "{\"delete\":{\"class\":\"N\",\"key\":\"\($0)\"}}" })
        let version = try server.must("GET", "app/schema")["schemaVersion"]?.integer ?? 0
        try server.must(
            "POST", "app/migrations",
            "{\"fromVersion\":\(version),\"toVersion\":\(version + 1),\"allowDataLoss\":true,"
                + #""steps":[{"removeClass":{"name":"B"}}]}"#)
        #expect(client.read(until: "HTTP/1.1 201"), "\(client.text)")
    }
}
