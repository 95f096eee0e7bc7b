// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// One answered poll, one closed stream or one registration that nobody read kept every later version for ten seconds.
@Suite("Notifications: readers that have left")
struct DepartedReaderTests {
    private static let classes =
        #"[{"name":"S","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"age","type":"int"}]}]"#

    enum Way: CaseIterable { case poll, now, stream, registration, waitingPoll }

    private func leave(_ server: ChangeServer, _ way: Way) throws {
        switch way {
        case .poll: _ = try server.poll("app", "class=S")
        case .now: _ = try server.poll("app", "class=S&since=now")
        case .stream:
            let client = try server.stream("app", "class=S")
            while let event = try client.next(), event.name != "ready" {}
        case .registration: try server.must("POST", "app/subscriptions", #"{"subscriptions":{"a":{"class":"S"}}}"#)
        case .waitingPoll:
            let next = try #require(try server.poll("app", "class=S&since=now")["next"]?.text)
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "GET /v1/realms/app/changes?class=S&wait=50&since=\(next) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(try eventually { try server.metric("waiting_polls") == 1 })
        }
    }

    @Test(arguments: Way.allCases)
    func `pin a handful of versions at the most`(_ way: Way) throws {
        let server = try ChangeServer()
        try server.must(
            "POST", "",
            "{\"name\":\"app\",\"inMemory\":\"app\",\"maxActiveVersions\":16,\"schema\":{\"classes\":\(Self.classes)}}")
        try server.batch("app", [#"{"create":{"class":"S","body":{"_id":1,"age":0}}}"#])
        try leave(server, way)
        for age in 1...300 {
            // On a busy machine the notifier may be as many commits behind for a moment.
            let isWritten = try eventually { try server.send("PATCH", "app/objects/S/1", "{\"age\":\(age)}").status == 200 }
            try #require(isWritten)
        }
        let document = try server.must("GET", "app")
        #expect((document["liveVersions"]?.integer ?? .max) <= 17, "\(document)")
        #expect((document["fileBytes"]?.integer ?? .max) <= 512 << 10, "\(document)")
        // What was pinned goes by itself.
        #expect(try eventually { try server.must("GET", "app")["liveVersions"]?.integer ?? .max <= 2 })
    }

    /// The definition of a stream stayed observed, and its entry stayed in the list of leases, if the client had left before its response
    /// was sent.
    @Test(arguments: ["close", "reset"])
    func `leave nothing behind when they go before their stream begins`(_ way: String) throws {
        let server = try ChangeServer { $0.limits.retentionSeconds = 0 }
        try server.makeRealm("app", classes: Self.classes)
        for number in 0..<100 {
            // A worker binds a query of this length while its client leaves.
            let condition = "age > \(number)" + String(repeating: " OR age == 5", count: 120)
            let client = try RawConnection(
                port: server.port, "/v1/realms/app/changes?class=S&where=\(ChangeServer.encode(condition))")
            if way == "reset" { client.socket.reset() } else { client.socket.close() }
        }
        #expect(eventually { server.server.daemon.connectionCount <= 1 })
        #expect(try eventually(seconds: 20) { try server.metric("observed_definitions") == 0 })
        let leases = try HTTPClient.request(port: server.port, "GET", "/admin/leases")
        #expect(leases.json["items"]?.elements?.isEmpty == true, "\(leases.text)")
        #expect(try eventually { try server.metric("streams") == 0 })
    }

    /// A registration was evaluated to the end, and then kept, although nobody waited for it.
    @Test func `are not waited for while what they register is evaluated`() throws {
        let server = try EndlessDefinition.server()
        let client = try EndlessDefinition.register(1, at: server)
        #expect(try eventually { try server.metric("observed_definitions") == 1 })
        client.socket.reset()
        #expect(try eventually(seconds: 30) { try server.metric("observed_definitions") == 0 })
        #expect(try server.poll("app", "class=N&key=1&wait=0")["snapshots"]?.elements?.count == 1)
        #expect(try server.metric("registrations") == 0)
    }

    @Test func `leave a snapshot alone that somebody holds`() throws {
        let server = try ChangeServer { $0.limits.liveVersions = 30 }
        try server.makeRealm("app", classes: Self.classes)
        try server.batch("app", [#"{"create":{"class":"S","body":{"_id":1,"age":0}}}"#])
        try leave(server, .stream)
        let id = try #require(try server.must("POST", "app/snapshots", "{}")["id"]?.text)
        for age in 1...300 { try server.must("PATCH", "app/objects/S/1", "{\"age\":\(age)}") }
        #expect(try server.must("GET", "app/objects/S/1?snapshot=\(id)")["age"]?.integer == 0)
    }
}
