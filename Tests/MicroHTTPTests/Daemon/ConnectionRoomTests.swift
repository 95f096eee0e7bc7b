// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
import RealmAccess
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Connections that do nothing take nobody's place.
@Suite(.ownThread) struct ConnectionRoomTests {
    @Test func `idle connections give way to newcomers of the same address`() throws {
        let server = try ScriptedServer {
            $0.limits.http.connectionsPerAddress = 10
            $0.limits.http.headSeconds = 60
        }
        var idle: [HTTPClient] = []
        for _ in 0..<60 { idle.append(try HTTPClient(port: server.port)) }
        // An idle connection that is accepted late displaces a newcomer that has not sent its request.
        #expect(eventually { server.server.displacedConnections >= 48 })
        for _ in 0..<20 { #expect(try HTTPClient.request(port: server.port, "GET", "/a").status == 200) }
        #expect(eventually { server.server.connectionCount <= 12 })
        withExtendedLifetime(idle) {}
    }

    @Test func `idle connections of many give way when all places are taken`() throws {
        let server = try ScriptedServer {
            $0.limits.http.connections = 20
            $0.limits.http.headSeconds = 60
        }
        var idle: [HTTPClient] = []
        for index in 0..<60 { idle.append(try HTTPClient(port: server.port, source: UInt8(20 + index % 20))) }
        #expect(try HTTPClient.request(port: server.port, "GET", "/a").status == 200)
        #expect(server.server.connectionCount <= HTTPServer.mostSockets(server.server.configuration.limits))
        withExtendedLifetime(idle) {}
    }

    @Test func `requests that are worked on keep their places and their answers`() throws {
        let server = try ScriptedServer {
            $0.limits.http.connectionsPerAddress = 4
            $0.limits.workers = 1
        }
        let busy = try (0..<4).map { _ in try HTTPClient(port: server.port) }
        for client in busy { try client.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n") }
        #expect(eventually { server.server.requestsInFlight == 4 })
        for _ in 0..<30 { _ = try? HTTPClient(port: server.port) }
        for client in busy { #expect(try client.readAnswer().text == "worked") }
    }

    @Test func `a connection without a first byte is closed without a word`() throws {
        let server = try ScriptedServer { $0.limits.http.headSeconds = 1 }
        let client = try HTTPClient(port: server.port)
        #expect(try client.isClosed())
        // One that has sent a request before may rest.
        let second = try HTTPClient(port: server.port)
        #expect(try second.request("GET", "/a").status == 200)
        Threads.sleep(seconds: 2.5)
        #expect(try second.request("GET", "/a").status == 200)
    }

    @Test func `a client that closes its side is answered, and its connection ends`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        try client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        client.finishSending()
        #expect(try client.readAnswer().status == 200)
        #expect(try client.isClosed())
        #expect(eventually { server.server.connectionCount == 0 })
    }

    @Test func `a body that hardly comes is given up although something comes`() throws {
        let server = try ScriptedServer { $0.limits.http.requestSeconds = 1 }
        let client = try HTTPClient(port: server.port)
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        var answer: HTTPClient.Answer?
        for _ in 0..<60 where answer == nil {
            guard (try? client.send("a")) != nil else { break }
            Threads.sleep(seconds: 0.1)
            if server.server.connectionCount == 0 { break }
        }
        answer = try client.readAnswer()
        #expect(answer?.status == 408)
        #expect(answer?.code == "request_timeout")
    }

    @Test func `a body in chunks that is far too long is answered`() throws {
        let server = try ScriptedServer(bodyLimit: 1000)
        let client = try HTTPClient(port: server.port)
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x61, count: 0x10000) + Array("\r\n".utf8)
        for _ in 0..<80 { guard (try? client.send(chunk)) != nil else { break } }
        let answer = try client.readAnswer()
        #expect(answer.status == 413)
        #expect(answer.code == "body_too_large")
    }
}
