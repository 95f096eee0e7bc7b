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

@Suite struct StreamTests {
    @Test func `a stream arrives whole and the connection goes on`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        let expected = NumberProducer.text(count: 200_000)
        for _ in 0..<3 {
            let answer = try client.request("GET", "/stream")
            #expect(answer["Transfer-Encoding"] == "chunked")
            #expect(answer.isComplete)
            #expect(answer.body == expected)
        }
        #expect(try client.request("GET", "/a").text == "GET /a")
        let head = try client.request("HEAD", "/stream")
        #expect(head.status == 200)
        #expect(head["Content-Length"] == nil)
        #expect(try client.isClosed())
    }

    @Test func `many streams at once share few workers`() throws {
        let server = try ScriptedServer { $0.limits.workers = 2 }
        let clients = try (0..<20).map { _ in try HTTPClient(port: server.port) }
        for client in clients { try client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n") }
        let expected = NumberProducer.text(count: 200_000)
        for client in clients { #expect(try client.readAnswer().body == expected) }
    }

    @Test func `an error in the middle cuts the stream`() throws {
        let server = try ScriptedServer()
        let answer = try HTTPClient.request(port: server.port, "GET", "/broken")
        #expect(answer.status == 200)
        #expect(!answer.isComplete)
    }

    /// The end of the connection is that of the body, so only a reset shows that something is missing.
    @Test func `a client of HTTP/1.0 sees whether a stream was cut`() throws {
        let server = try ScriptedServer()
        func begin(_ path: String) throws -> HTTPClient {
            let client = try HTTPClient(port: server.port)
            try client.send("GET \(path) HTTP/1.0\r\nHost: x\r\n\r\n")
            return client
        }
        let whole = try begin("/stream").readAnswer()
        #expect(whole.isComplete && whole.body == NumberProducer.text(count: 200_000))
        let broken = try begin("/broken").readAnswer()
        #expect(broken.status == 200 && !broken.isComplete)
        let running = try begin("/endless")
        #expect(try running.receiveSome())
        server.server.stop(graceSeconds: 0)
        #expect(try !running.readAnswer().isComplete)
    }

    @Test func `a client of HTTP/1.0 that reads nothing for too long sees that its stream was cut`() throws {
        let server = try ScriptedServer { $0.limits.http.idleSeconds = 1 }
        let client = try HTTPClient(port: server.port)
        try client.send("GET /endless HTTP/1.0\r\nHost: x\r\n\r\n")
        #expect(eventually { server.handler.ends.withLock { !$0.isEmpty } })
        #expect(try !client.readAnswer().isComplete)
    }

    @Test func `a client that does not read holds no worker`() throws {
        let server = try ScriptedServer { $0.limits.workers = 1 }
        let idle = try (0..<4).map { _ in try HTTPClient(port: server.port) }
        for client in idle { try client.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n") }
        #expect(try HTTPClient.request(port: server.port, "GET", "/work").text == "worked")
        withExtendedLifetime(idle) {}
    }

    @Test func `a producer is let go when its client leaves`() throws {
        let server = try ScriptedServer()
        try {
            let client = try HTTPClient(port: server.port)
            try client.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(eventually { !server.handler.producers.withLock { $0.isEmpty } })
        }()
        let isGone = eventually {
            server.handler.producers.withLock { $0.allSatisfy { $0.producer == nil } }
        }
        #expect(isGone)
        let isNoted = eventually { server.handler.ends.withLock { $0.first?.isComplete == false } }
        #expect(isNoted)
        #expect(server.handler.ends.withLock { $0.first?.status } == 499)
    }

    @Test func `a stream whose client left wakes nobody else's request`() throws {
        let server = try ScriptedServer { $0.limits.workers = 2 }
        for _ in 0..<40 {
            // The places of connections that are gone are taken by the next ones, while producers are still at work.
            for _ in 0..<3 { try HTTPClient(port: server.port).send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n") }
            let waiting = try (0..<3).map { _ in try HTTPClient(port: server.port) }
            for client in waiting { try client.send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n") }
            for client in waiting { #expect(try client.readAnswer().text == "later") }
        }
    }
}
