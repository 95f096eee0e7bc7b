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

/// How connections are given to the threads of the daemon, and how these are woken for answers.
@Suite(.ownThread) struct DaemonThreadTests {
    @Test func `each thread has as many connections as the others`() throws {
        let server = try ScriptedServer { $0.daemonThreads = 4 }
        var clients: [(client: HTTPClient, thread: String)] = []
        func add(_ count: Int) throws {
            for _ in 0..<count {
                let client = try HTTPClient(port: server.port)
                clients.append((client, try client.request("GET", "/thread").text))
            }
        }
        try add(16)
        var counts = Dictionary(grouping: clients, by: \.thread).mapValues(\.count)
        #expect(counts.values.sorted() == [4, 4, 4, 4])
        // The places of those that leave are taken by the next ones.
        let left = try #require(clients.first?.thread)
        clients.removeAll { $0.thread == left }
        #expect(eventually { server.server.connectionCount == 12 })
        try add(4)
        counts = Dictionary(grouping: clients, by: \.thread).mapValues(\.count)
        #expect(counts[left] == 4)
    }

    @Test func `connections that come at once are spread`() throws {
        let server = try ScriptedServer { $0.daemonThreads = 2 }
        let clients = try (0..<32).map { _ in try HTTPClient(port: server.port) }
        let threads = try clients.map { try $0.request("GET", "/thread").text }
        #expect(Dictionary(grouping: threads) { $0 }.mapValues(\.count).values.sorted() == [16, 16])
    }

    /// The first of the answers wakes the thread for all others, so it must come although its own client has left.
    @Test(arguments: [0, 1, 5, 31]) func `all answers of one moment arrive, though clients leave`(_ leaving: Int) throws {
        let server = try ScriptedServer { $0.daemonThreads = 2 }
        for round in 0..<10 {
            var clients = try (0..<32).map { _ in try HTTPClient(port: server.port) }
            for (index, client) in clients.enumerated() {
                try client.send("GET /together HTTP/1.1\r\nHost: x\r\n\r\n")
                // In a known order, so that those that leave are the first to be answered.
                #expect(eventually { server.handler.promises.withLock { $0.count } == index + 1 })
            }
            clients.removeFirst(leaving)
            server.handler.answerTogether()
            for client in clients { #expect(try client.readAnswer().text == "together", "round \(round)") }
        }
    }

    /// The library takes 128 events at once; after exactly as many it waited for another one before it handled any.
    @Test(arguments: [126, 127, 128, 129])
    func `all requests of one moment are answered, however many there are`(_ count: Int) throws {
        let server = try ScriptedServer {
            $0.daemonThreads = 1
            $0.limits.http.connectionsPerAddress = 200
        }
        let first = try HTTPClient(port: server.port)
        let clients = try (0..<count).map { _ in try HTTPClient(port: server.port) }
        for client in clients { #expect(try client.request("GET", "/thread").status == 200) }
        for round in 0..<3 {
            // The requests come while the only thread is busy.
            try first.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
            Threads.sleep(seconds: 0.1)
            for client in clients { try client.send("GET /thread HTTP/1.1\r\nHost: x\r\n\r\n") }
            let start = Instant.now()
            #expect(try first.readAnswer().text == "slow")
            for client in clients { #expect(try client.readAnswer().status == 200, "round \(round)") }
            #expect(Instant.now().seconds(since: start) < 20)
        }
    }

    /// Connections may be closed before their answers were sent, as there is no grace, but the server has to come to its end.
    @Test func `a server stops while answers are given`() throws {
        let server = try ScriptedServer { $0.daemonThreads = 2 }
        let clients = try (0..<16).map { _ in try HTTPClient(port: server.port) }
        for client in clients { try client.send("GET /together HTTP/1.1\r\nHost: x\r\n\r\n") }
        #expect(eventually { server.handler.promises.withLock { $0.count } == 16 })
        Threads.spawn("answers") { [handler = server.handler] in
            let end = Instant.now().adding(seconds: 0.2)
            while Instant.now() < end { handler.answerTogether() }
        }
        server.server.stop(graceSeconds: 0)
        #expect(server.server.requestsInFlight == 0)
        for client in clients {
            guard let answer = try? client.readAnswer() else { continue }
            #expect([200, 503].contains(answer.status))
        }
    }
}
