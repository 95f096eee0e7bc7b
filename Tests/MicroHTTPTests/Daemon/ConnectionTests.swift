// SPDX-License-Identifier: Apache-2.0

import MicroHTTP
import RealmAccess
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@Suite(.ownThread) struct ConnectionTests {
    @Test func `connections over the limit get 503 and are closed`() throws {
        let server = try ScriptedServer { $0.limits.http.connections = 4 }
        let clients = try (0..<4).map { _ in try HTTPClient(port: server.port) }
        for client in clients { try client.send("GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n") }
        #expect(eventually { server.server.requestsInFlight == 4 })
        let extra = try HTTPClient(port: server.port)
        let answer = try extra.request("GET", "/a")
        #expect(answer.status == 503)
        #expect(answer.code == "overloaded")
        #expect(answer.json["limit"]?.int == 4)
        #expect(try extra.isClosed())
    }

    @Test func `connections over the limit of an address get 429`() throws {
        let server = try ScriptedServer { $0.limits.http.connectionsPerAddress = 2 }
        let clients = try (0..<2).map { _ in try HTTPClient(port: server.port) }
        for client in clients { try client.send("GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n") }
        #expect(eventually { server.server.requestsInFlight == 2 })
        let answer = try HTTPClient.request(port: server.port, "GET", "/a")
        #expect(answer.status == 429)
        #expect(answer.code == "rate_limited")
    }

    @Test(arguments: [
        "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
    ])
    func `a request that does not become complete is 408`(_ beginning: String) throws {
        let server = try ScriptedServer { $0.limits.http.requestSeconds = 1 }
        let client = try HTTPClient(port: server.port)
        try client.send(beginning)
        let answer = try client.readAnswer()
        #expect(answer.status == 408)
        #expect(answer.code == "request_timeout")
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(try client.isClosed())
    }

    @Test func `an idle connection may stay`() throws {
        let server = try ScriptedServer { $0.limits.http.requestSeconds = 1 }
        let fresh = try HTTPClient(port: server.port)
        let used = try HTTPClient(port: server.port)
        #expect(try used.request("GET", "/a").status == 200)
        Threads.sleep(seconds: 3.2)
        #expect(try fresh.request("GET", "/a").status == 200)
        #expect(try used.request("GET", "/a").status == 200)
    }

    @Test func `requests that wait for a worker are not begun when their clients have left`() throws {
        let server = try ScriptedServer {
            ($0.limits.workers, $0.limits.workersPerPrincipal) = (1, 1)
            ($0.limits.workerQueue, $0.limits.workerQueuePerPrincipal) = (100, 100)
        }
        var clients = try (0..<60).map { _ in try HTTPClient(port: server.port) }
        for client in clients { try client.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n") }
        #expect(eventually { server.handler.works.load(ordering: .relaxed) > 0 })
        clients = []
        #expect(eventually { server.handler.ends.withLock { $0.count } == 60 })
        // The worker needs 50 ms for each, and clients that have closed their direction are waited for a second.
        #expect(server.handler.works.load(ordering: .relaxed) < 60)
    }

    @Test func `stopping lets running requests finish and refuses new ones`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        let other = try HTTPClient(port: server.port)
        #expect(try other.request("GET", "/a").status == 200)
        let daemon = server.server
        #expect(eventually { daemon.requestsInFlight == 0 })
        try client.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
        // It is either being worked on, or so quick that it is answered already.
        #expect(eventually { server.handler.works.load(ordering: .relaxed) > 0 })
        let ended = Monitor(false)
        Threads.spawn("stop") {
            daemon.stop(graceSeconds: 60)
            ended.broadcast { $0 = true }
        }
        #expect(try client.readAnswer().text == "worked")
        #expect(ended.wait(until: Instant.now().adding(seconds: 60)) { $0 ? true : nil } == true)
        #expect(throws: TestSocket.Failure.self) { try HTTPClient(port: server.port) }
    }

    @Test func `a connection that is open while the server stops gets 503`() throws {
        let server = try ScriptedServer()
        let busy = try HTTPClient(port: server.port)
        let other = try HTTPClient(port: server.port)
        #expect(try other.request("GET", "/a").status == 200)
        let daemon = server.server
        // The request before counts until the daemon has taken leave of it.
        #expect(eventually { daemon.requestsInFlight == 0 })
        try busy.send("GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(eventually { daemon.requestsInFlight == 1 })
        let ended = Monitor(false)
        let isRefused = Monitor(false)
        Threads.spawn("stop") {
            daemon.stop(graceSeconds: 60) { isRefused.withLock { $0 } }
            ended.broadcast { $0 = true }
        }
        #expect(eventually { daemon.isDraining })
        let answer = try other.request("GET", "/a")
        #expect(answer.status == 503)
        #expect(answer.code == "shutting_down")
        #expect(try other.isClosed())
        isRefused.broadcast { $0 = true }
        #expect(ended.wait(until: Instant.now().adding(seconds: 60)) { $0 ? true : nil } == true)
    }

    @Test func `stopping answers what would never be answered`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        try client.send("GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(eventually { server.server.requestsInFlight == 1 })
        server.server.stop(graceSeconds: 0.1)
        let answer = try? client.readAnswer()
        #expect(answer == nil || answer?.status == 503)
    }
}
