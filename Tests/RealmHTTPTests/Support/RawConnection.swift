// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// A client that sends what it is told and looks at nothing but the text that comes: it can misbehave through its socket.
final class RawConnection {
    let socket: TestSocket
    /// Everything that was read, as far as it is kept.
    private(set) var text = ""

    init(port: Int, receiveBuffer: Int32? = nil) throws {
        socket = try TestSocket(port: port, receiveBuffer: receiveBuffer)
    }

    /// Asks for a stream, or with `accept` for something else.
    convenience init(
        port: Int, _ target: String, accept: String = "text/event-stream", receiveBuffer: Int32? = nil
    ) throws {
        try self.init(port: port, receiveBuffer: receiveBuffer)
        try send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: \(accept)\r\n\r\n")
    }

    func send(_ text: String) throws { try socket.send(text) }

    /// Reads until the answer has `part` in it; false when it ends or nothing comes for `seconds`.
    func read(until part: String, seconds: Double = 60) -> Bool {
        while !text.contains(part) {
            guard let bytes = try? socket.receive(seconds: seconds), !bytes.isEmpty else { return false }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return true
    }

    /// Reads to the end; false when nothing comes for `seconds`.
    func readToEnd(seconds: Double = 60) -> Bool {
        while let bytes = try? socket.receive(seconds: seconds) {
            if bytes.isEmpty { return true }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return false
    }

    func forgetText() { text = "" }
}
