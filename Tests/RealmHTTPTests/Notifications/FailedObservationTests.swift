// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmHTTP
import RealmTestSupport
import Testing

/// A stream whose observation failed attached again under its lock, was refused at once, and took its lock a second time in
/// the completion: the whole server ended.
@Suite("Notifications: observations that fail")
struct FailedObservationTests {
    private static let endless = ChangeServer.encode("ANY to.to.to.to.to.to.to.v == _id - 100")

    private func server() throws -> ChangeServer {
        let server = try ChangeServer { $0.limits.observationSeconds = 1 }
        try server.makeRealm(
            "r",
            classes: """
                [{"name":"N","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"v","type":"int"},
                {"name":"to","type":"object","objectType":"N","collection":"list"}]}]
                """)
        try server.batch("r", (0..<40).map { "{\"create\":{\"class\":\"N\",\"body\":{\"_id\":\($0),\"v\":1}}}" })
        return server
    }

    /// Makes a cheap query one that does not end.
    private func linkAll(_ server: ChangeServer) throws {
        let all = "[" + (0..<40).map { "\"\($0)\"" }.joined(separator: ",") + "]"
        try server.batch("r", (0..<40).map { "{\"patch\":{\"class\":\"N\",\"key\":\"\($0)\",\"body\":{\"to\":\(all)}}}" })
    }

    private func lastEvents(_ client: EventClient) throws -> [EventClient.Event] {
        var events: [EventClient.Event] = []
        while let event = try client.next() { if !event.name.isEmpty { events.append(event) } }
        return events
    }

    private func untilReady(_ client: EventClient) throws {
        while let event = try client.next(), event.name != "ready" {}
    }

    @Test(arguments: [false, true])
    func `end their streams with the problem, and nothing else`(_ isRegistered: Bool) throws {
        let server = try server()
        var query = "class=N&where=\(Self.endless)"
        if isRegistered {
            let body = """
                {"subscriptions":{"a":{"class":"N"},"b":{"class":"N","where":"\(Self.endless.removingPercentEncoding ?? "")"}}}
                """
            let url = try #require(try server.must("POST", "r/subscriptions", body)["url"]?.text)
            query = String(url.split(separator: "?").last ?? "")
        }
        let failing = try server.stream("r", query)
        let other = try server.stream("r", "class=N")
        try untilReady(failing)
        try untilReady(other)
        try linkAll(server)
        let last = try #require(try lastEvents(failing).last)
        #expect(last.name == "error")
        #expect(last.json["code"]?.text == "deadline_exceeded")
        var event = try other.next()
        while event?.name != "changes" { event = try other.next() }
        #expect(event?.json["modifications"] != nil)
        #expect(try server.send("GET", "r/objects/N/1").status == 200)
        // Whoever comes now is told the same, by every way.
        #expect(try server.send("GET", "r/changes?class=N&where=\(Self.endless)").status >= 400)
        #expect(try server.send("GET", "r/objects/N/1").status == 200)
    }

    @Test func `answer their polls with the problem`() throws {
        let server = try server()
        let next = try #require(try server.poll("r", "class=N&where=\(Self.endless)&since=now")["next"]?.text)
        let answer = Awaited<Int>()
        Thread.detachNewThread {
            answer.set((try? server.send("GET", "r/changes?class=N&where=\(Self.endless)&wait=30&since=\(next)").status) ?? 0)
        }
        #expect(try eventually { try server.metric("waiting_polls") == 1 })
        try linkAll(server)
        #expect(try answer.wait() >= 400)
        #expect(try server.send("GET", "r/objects/N/1").status == 200)
    }
}
