// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmServerSupport
import RealmTestSupport
import Testing

/// Heads that others understand differently are refused, each with one problem document.
@Suite(.ownThread) struct HeadTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        let status: Int
        let code: String

        init(_ name: String, _ text: String, _ status: Int = 400, _ code: String = "malformed_request") {
            self.name = name
            self.text = text
            self.status = status
            self.code = code
        }

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case("blank before the colon", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello"),
        Case("LF alone", "GET /a HTTP/1.1\nHost: x\nX: y\n\n"),
        Case("LF alone in one line", "GET /a HTTP/1.1\r\nHost: x\nX: y\r\n\r\n"),
        Case("folded field", "GET /a HTTP/1.1\r\nHost: x\r\nX: y\r\n z\r\nQ: 1\r\n\r\n"),
        Case("NUL in a field", "GET /a HTTP/1.1\r\nHost: x\r\nX: y\0z\r\nQ: 1\r\n\r\n"),
        Case("NUL in the target", "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("control character in a field", "GET /a HTTP/1.1\r\nHost: x\r\nX: y\u{1}z\r\n\r\n"),
        Case("CR in a field", "GET /a HTTP/1.1\r\nHost: x\r\nX: y\rz\r\n\r\n"),
        Case("space in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("two spaces in the request line", "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("two lengths", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        Case(
            "length and chunks",
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case(
            "unknown transfer coding", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "not_implemented"
        ),
        Case(
            "chunked twice", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501,
            "not_implemented"),
        Case("length that is no number", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n"),
        Case("negative length", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nhello"),
        Case(
            "endless length", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413,
            "body_too_large"),
        Case("field without a name", "GET /a HTTP/1.1\r\nHost: x\r\n: y\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("field without a name and a value", "GET /a HTTP/1.1\r\nHost: x\r\n:\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("LF alone at the end of the last field", "GET /a HTTP/1.1\r\nHost: x\n\r\n"),
        Case("LF alone as the empty line", "GET /a HTTP/1.1\r\nHost: x\r\n\n"),
        Case("path without a slash", "GET a HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("field without a colon", "GET /a HTTP/1.1\r\nHost: x\r\nXyz\r\n\r\n"),
        Case("size of a chunk that is no number", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        Case(
            "many parameters", "GET /a?" + String(repeating: "&", count: 800) + " HTTP/1.1\r\nHost: x\r\n\r\n", 414,
            "uri_too_long"),
        Case(
            "head far beyond the limit",
            "GET /a HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "a", count: 1 << 16) + "\r\n\r\n", 431,
            "headers_too_large"),
        Case(
            "long extension of a chunk",
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;" + String(repeating: "a", count: 1 << 16)
                + "\r\nhello\r\n0\r\n\r\n"),
    ]

    @Test(arguments: cases)
    func `is refused with one problem document`(_ example: Case) throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        try client.send(example.text)
        let answer = try client.readAnswer()
        #expect(answer.status == example.status)
        #expect(answer.code == example.code, "\(answer.text)")
        // Neither a second head nor another answer follows.
        #expect(try client.isClosed())
    }

    @Test(arguments: [
        "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "\r\nGET /a HTTP/1.1\r\nHost:x\r\nX: \t y\r\nEmpty:\r\n\r\n",
        "GET /a HTTP/1.0\r\n\r\n",
        "GET /a?x=1&y=2&z HTTP/1.1\r\nHost: x\r\nCookie: a=b; c=d\r\nAccept: */*\r\n\r\n",
    ])
    func `heads as they should be are taken`(_ head: String) throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        try client.send(head)
        #expect(try client.readAnswer().status == 200)
    }

    @Test func `requests that follow each other without waiting are answered in order`() throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        try client.send((1...5).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\nX: y\r\n\r\n" }.joined())
        for number in 1...5 { #expect(try client.readAnswer().text == "GET /\(number)") }
    }

    @Test(arguments: [
        "0\r\n\r\n", "0\r\nX: y\r\n\r\n", "0\r\nX: y\r\n: z\r\n", "0\n\n", "1\nx\n0\n\n",
    ])
    func `nothing after a body in chunks is taken for a request`(_ body: String) throws {
        let server = try ScriptedServer()
        let client = try HTTPClient(port: server.port)
        try client.send(
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body + "GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readAnswer().status == 200)
        #expect(try client.isClosed())
    }

    @Test func `a body of very many tiny chunks is refused, and one of many is not`() throws {
        let server = try ScriptedServer()
        for (count, status) in [(10_000, 200), (20_000, 400)] {
            let client = try HTTPClient(port: server.port)
            let chunks = String(repeating: "1\r\nx\r\n", count: count)
            try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n")
            let answer = try client.readAnswer()
            #expect(answer.status == status)
            if status == 400 { #expect(answer.code == "malformed_request") }
        }
    }

    @Test func `the host is named once`() throws {
        let server = try TestServer(["links"])
        let client = try HTTPClient(port: server.port)
        let host = "Host: 127.0.0.1:\(server.port)\r\n"
        try client.send("GET /healthz HTTP/1.1\r\n" + host + host + "\r\n")
        let answer = try client.readAnswer()
        #expect(answer.status == 400)
        #expect(answer.json["header"]?.text == "host")
    }

    @Test func `the target cannot name another host than the field`() throws {
        let server = try TestServer(["links"])
        let host = "127.0.0.1:\(server.port)"
        #expect(try server.get("http://evil.example/healthz").code == "host_not_allowed")
        #expect(try server.get("http://\(host)/healthz").status == 200)
    }
}
