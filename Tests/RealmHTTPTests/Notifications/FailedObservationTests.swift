// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// A stream whose observation failed attached again under its lock, was refused at once, and took its lock a second time in
/// the completion: the whole server ended.
@Suite("Notifications: observations that fail")
struct FailedObservationTests {
    private static let endless = ChangeServer.encode("ANY to.to.to.to.to.to.to.v == _id - 100")

    private func server(seconds: Int = 1) throws -> ChangeServer {
        let server = try ChangeServer {
            $0.limits.observationSeconds = seconds
            $0.limits.readSeconds = max($0.limits.readSeconds, seconds)
        }
        try server.makeRealm(
            "r",
            classes: """
                [{"name":"N","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"v","type":"int"},
                {"name":"spare","type":"int","optional":true},
                {"name":"to","type":"object","objectType":"N","collection":"list"}]}]
                """)
        try server.batch("r", (0..<40).map { "{\"create\":{\"class\":\"N\",\"body\":{\"_id\":\($0),\"v\":1}}}" })
        return server
    }

    /// Makes a cheap query one that does not end.
    private func linkAll(_ server: ChangeServer) throws {
        try link(server, to: "[" + (0..<40).map { "\"\($0)\"" }.joined(separator: ",") + "]")
    }

    private func link(_ server: ChangeServer, to all: String) throws {
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

    private func nextChanges(_ client: EventClient) throws -> EventClient.Event? {
        var event = try client.next()
        while let next = event, next.name != "changes" { event = try client.next() }
        return event
    }

    /// After so long a round all later definitions are evaluated by workers, and are behind the published version until then.
    @Test func `leave the order and the positions of others as they are`() throws {
        let server = try server(seconds: 2)
        let failing = try server.stream("r", "class=N&where=\(Self.endless)")
        try untilReady(failing)
        let body = #"{"subscriptions":{"a":{"class":"N","where":"v > 0"},"b":{"class":"N"},"c":{"class":"N","where":"v > 1"}}}"#
        let registration = try server.must("POST", "r/subscriptions", body)
        let url = try #require(registration["url"]?.text)
        let id = try #require(registration["id"]?.text)
        let begin = try #require(registration["version"]?.text)
        let other = try server.stream("r", String(url.split(separator: "?").last ?? ""))
        try untilReady(other)
        try linkAll(server)
        try server.must("PATCH", "r/objects/N/7", #"{"v":2}"#)
        let poll = try server.poll("r", "subscription=\(id)&since=\(begin)")
        #expect(poll["reset"] == .null)
        var positions = ["a": begin, "b": begin, "c": begin]
        for change in poll["changes"]?.elements ?? [] {
            let sub = try #require(change["sub"]?.text)
            #expect(change["from"]?.text == positions[sub])
            positions[sub] = change["to"]?.text
        }
        #expect(positions["a"] == positions["b"])
        #expect(positions["c"] == poll["next"]?.text)
        var streamed = ["a": begin, "b": begin, "c": begin]
        while streamed["c"] == begin || streamed["a"] != streamed["c"] || streamed["b"] != streamed["c"] {
            let set = try #require(try nextChanges(other)).json
            let sub = try #require(set["sub"]?.text)
            // The position of a stream is that of all its subscriptions.
            if sub != "c" { #expect(set["from"]?.text == streamed[sub]) }
            streamed[sub] = set["to"]?.text
        }
        #expect(streamed == positions)
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

    /// The definition failed for everybody, and was evaluated to its deadline although nobody waited for it.
    @Test func `a registration goes on after the client has left that had its definition observed anew`() throws {
        let server = try server(seconds: 120)
        let body = "{\"subscriptions\":{\"a\":{\"class\":\"N\",\"where\":\"\(Self.endless.removingPercentEncoding ?? "")\"}}}"
        let id = try #require(try server.must("POST", "r/subscriptions", body)["id"]?.text)
        // The end of the property ends the observation.
        let start = try #require(try server.must("GET", "r/schema")["schemaVersion"]?.integer)
        try server.must(
            "POST", "r/migrations",
            "{\"fromVersion\":\(start),\"toVersion\":\(start + 1),\"allowDataLoss\":true,"
                + #""steps":[{"removeProperty":{"class":"N","name":"spare"}}]}"#)
        try linkAll(server)
        var client: RawConnection? = try RawConnection(
            port: server.port, "/v1/realms/r/changes?subscription=\(id)", accept: "application/json")
        #expect(try eventually { try server.metric("waiting_polls") == 1 })
        #expect(client?.text == "")
        client = nil
        #expect(try eventually(seconds: 30) { try server.metric("waiting_polls") == 0 })
        try link(server, to: "[]")
        #expect(try server.poll("r", "subscription=\(id)")["snapshots"]?.elements?.count == 1)
    }
}
