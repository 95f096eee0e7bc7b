// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import SystemPackage
import Testing

/// The connections of the tests tell what became of them.
@Suite struct TestSocketTests {
    @Test func `a failure tells the operation and its error`() throws {
        let port = try TestSocket.freePort()
        #expect(throws: TestSocket.Failure.refused(.connect, .connectionRefused)) { try TestSocket(port: port) }
        #expect(throws: TestSocket.Failure.refused(.connect, .noSuchFileOrDirectory)) {
            try TestSocket(unixPath: "/nowhere/socket")
        }
        let long = "/" + String(repeating: "x", count: 120)
        #expect(throws: TestSocket.Failure.nameTooLong(long)) { try TestSocket(unixPath: long) }
    }

    @Test func `a deadline ends a wait for an answer, and an end is no bytes`() throws {
        let server = try TestServer(["links"])
        let socket = try TestSocket(port: server.port)
        #expect(throws: TestSocket.Failure.timedOut(0.05)) { try socket.receive(seconds: 0.05) }
        try socket.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        var text = ""
        while case let bytes = try socket.receive(), !bytes.isEmpty { text += String(decoding: bytes, as: UTF8.self) }
        #expect(text.hasPrefix("HTTP/1.1 200 "))
        #expect(try socket.receive(seconds: 1).isEmpty)
    }
}
