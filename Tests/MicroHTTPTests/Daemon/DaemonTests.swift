// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmServerSupport
import RealmTestSupport
import Synchronization
import Testing

@Suite struct DaemonTests {
    @Test func `one connection answers many requests`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        for number in 0..<20 {
            let answer = try client.request("GET", "/number\(number)")
            #expect(answer.status == 200)
            #expect(answer.text == "GET /number\(number)")
        }
        #expect(try client.request("QUERY", "/a", body: Array("x".utf8)).text == "QUERY /a")
        #expect(try client.request("HEAD", "/a")["Content-Length"] == "7")
        #expect(try client.request("GET", "/none").status == 204)
        let unchanged = try client.request("GET", "/same")
        #expect(unchanged.status == 304)
        #expect(unchanged["ETag"] == "\"x\"")
        #expect(unchanged["Content-Type"] == nil)
        #expect(try client.request("GET", "/after").text == "GET /after")
    }

    @Test func `pipelined requests are answered in order`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        let paths = ["/a", "/work", "/b", "/later", "/c"]
        try client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
        let texts = try paths.map { _ in try client.readAnswer().text }
        #expect(texts == ["GET /a", "worked", "GET /b", "later", "GET /c"])
    }

    @Test func `a body arrives whole, in one piece or chunked`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        let body = NumberProducer.text(count: 30_000)
        #expect(try client.request("POST", "/echo", body: body).body == body)
        #expect(try client.request("POST", "/echo", body: []).text == "")
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        try client.send("5\r\nhello\r\n")
        try client.send("6\r\n world\r\n0\r\n\r\n")
        #expect(try client.readAnswer().text == "hello world")
    }

    @Test func `a client that expects to be asked is asked`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        try client.send("ok")
        #expect(try client.readAnswer().text == "ok")
        try client.send("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.readAnswer().status == 403)
    }

    @Test func `a body over the limit is 413, told or untold`() throws {
        let server = try ScriptedServer(bodyLimit: 1000)
        let told = try HTTPClient.request(port: server.port, "POST", "/echo", body: [UInt8](repeating: 65, count: 1001))
        #expect(told.status == 413)
        #expect(told.json["limit"]?.int == 1000)
        let client = try HTTPClient(port: server.port)
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<3 { try client.send("1f4\r\n" + String(repeating: "a", count: 500) + "\r\n") }
        try client.send("0\r\n\r\n")
        #expect(try client.readAnswer().code == "body_too_large")
        #expect(
            try HTTPClient.request(port: server.port, "POST", "/echo", body: [UInt8](repeating: 65, count: 1000)).status == 200)
    }

    @Test func `a refusal comes after a small body and keeps the connection`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        #expect(try client.request("POST", "/refused", body: [1, 2, 3]).status == 403)
        #expect(try client.request("GET", "/next").status == 200)
    }

    @Test func `work and promises answer from other threads`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        for _ in 0..<3 {
            #expect(try client.request("GET", "/work").text == "worked")
            #expect(try client.request("GET", "/later").text == "later")
            #expect(try client.request("GET", "/at-once").text == "at once")
        }
    }

    @Test func `a full queue of workers is 503 at once`() throws {
        let server = try ScriptedServer {
            $0.limits.workers = 1
            $0.limits.workerQueue = 1
        }
        let clients = try (0..<6).map { _ in try HTTPClient(port: server.port) }
        for client in clients { try client.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n") }
        let answers = try clients.map { try $0.readAnswer() }
        #expect(answers.contains { $0.status == 503 && $0.code == "overloaded" })
        #expect(answers.contains { $0.status == 200 })
    }

    @Test func `the log learns of every end`() throws {
        let server = try ScriptedServer()
        _ = try HTTPClient.request(port: server.port, "GET", "/x")
        let isNoted = eventually { server.handler.ends.withLock { $0.count == 1 } }
        #expect(isNoted)
        let end = try #require(server.handler.ends.withLock { $0.first })
        #expect(end.status == 200)
        #expect(end.bytesSent == 6)
        #expect(end.isComplete)
    }
}
