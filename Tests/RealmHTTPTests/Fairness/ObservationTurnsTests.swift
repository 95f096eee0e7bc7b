// SPDX-License-Identifier: Apache-2.0

import RealmHTTP
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
}
