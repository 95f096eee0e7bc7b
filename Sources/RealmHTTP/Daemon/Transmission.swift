// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc

/// An answer on its way to the daemon.
final class Transmission {
    private var response: Response
    private let isBodyless: Bool
    private let server: HTTPServer
    /// What the answer takes of the memory for answers, until it is sent.
    private var holding: ByteHolding?
    private let client: String
    private var stream: StreamBody?
    private var events: EventBody?
    private var byteCount = 0

    /// The transmission of a finished answer; `holding` is what the answer takes of the memory for answers.
    init(_ response: Response, to request: Request, server: HTTPServer, holding: ByteHolding?) {
        self.response = response
        self.holding = holding
        self.server = server
        client = request.client
        isBodyless = request.method == .head || response.status == 204 || response.status == 304
    }

    /// The connection ends with this answer.
    func closeAfterwards() { response.closesConnection = true }

    /// Body bytes that were handed to the daemon.
    var bytesSent: Int { stream?.bytesTaken ?? events?.bytesTaken ?? byteCount }

    /// Gives the answer to the daemon; false when it takes none.
    func queue(on connection: OpaquePointer) -> Bool {
        guard let message = unsafe makeMessage(connection) else { return false }
        defer { unsafe MHD_destroy_response(message) }
        for field in response.headers { unsafe add(field, to: message) }
        if response.closesConnection { unsafe MHD_add_response_header(message, "Connection", "close") }
        return unsafe MHD_queue_response(connection, UInt32(response.status), message) == .YES
    }

    private func add(_ field: HeaderField, to message: OpaquePointer) {
        unsafe field.name.utf8Start.withMemoryRebound(to: CChar.self, capacity: field.name.utf8CodeUnitCount + 1) { name in
            switch field.value {
            case .constant(let value):
                unsafe value.utf8Start.withMemoryRebound(to: CChar.self, capacity: value.utf8CodeUnitCount + 1) {
                    _ = unsafe MHD_add_response_header(message, name, $0)
                }
            case .text(let value):
                _ = unsafe MHD_add_response_header(message, name, value)
            }
        }
    }

    private func makeMessage(_ connection: OpaquePointer) -> OpaquePointer? {
        switch response.body {
        case .none:
            // The library gives a 304 the length of its body, here 0; the only other choice would close the connection.
            return unsafe MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(let buffer): return unsafe makeMessage(buffer)
        case .stream(let producer):
            if isBodyless { return unsafe makeHeadOfStream() }
            let stream = unsafe StreamBody(producer, of: client, connection, server)
            self.stream = stream
            return unsafe stream.makeMessage()
        case .events(let source):
            let events = unsafe EventBody(source, connection, server)
            self.events = events
            return unsafe events.makeMessage()
        }
    }

    private func makeHeadOfStream() -> OpaquePointer? {
        let message = unsafe MHD_create_response_from_callback(UInt64.max, 1024, { _, _, _, _ in -1 }, nil, nil)
        if let message = unsafe message { unsafe realm_rest_send_without_framing(message) }
        return unsafe message
    }

    /// The buffer is sent as it is and let go when the daemon is done with it.
    private func makeMessage(_ buffer: OutputBuffer) -> OpaquePointer? {
        byteCount = isBodyless ? 0 : buffer.count
        return unsafe buffer.withBytes { bytes in
            let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            let context = unsafe Unmanaged.passRetained(BufferInTransit(buffer, holding))
            holding = nil
            let message = unsafe MHD_create_response_from_buffer_with_free_callback_cls(
                bytes.count, start, { unsafe Unmanaged<BufferInTransit>.fromOpaque($0.unsafelyUnwrapped).release() },
                unsafe context.toOpaque())
            if unsafe message == nil { unsafe context.release() }
            return unsafe message
        }
    }
}
