// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A response on its way to the daemon: converts it to a response object of the library, and counts the sent bytes.
///
/// It belongs to an `Exchange` and is used on the daemon's thread of the connection.
final class Transmission {
    private var response: Response
    /// Whether the response is sent without its body: for `HEAD`, 204 and 304.
    private let isBodyless: Bool
    /// Whether the library sends a body in chunks whose length is not known.
    private let isChunked: Bool
    private let server: HTTPServer
    /// The memory for unsent responses that the response uses; handed on with its buffer.
    private var holding: ByteHolding?
    /// The connection, whose end shows that of a body in no chunks.
    private let record: ConnectionRecord
    /// The client whose share of workers and memory a streamed body uses.
    private let client: String
    private var stream: StreamBody?
    /// The body, if it is endless.
    private var events: EventBody?
    /// The length of the body, if it is complete in memory.
    private var byteCount = 0

    /// Prepares a finished response to be sent.
    ///
    /// - Parameters:
    ///   - response: The response, finished by the handler.
    ///   - holding: The memory for unsent responses that the response uses, if it is charged.
    init(_ response: Response, to task: any RequestTask, server: HTTPServer, _ record: ConnectionRecord, holding: ByteHolding?) {
        self.response = response
        self.holding = holding
        self.server = server
        self.record = record
        client = task.account
        isChunked = !task.request.isHTTP10
        isBodyless = task.request.method == .head || response.status == 204 || response.status == 304
    }

    /// Closes the connection after this response.
    func closeAfterwards() { response.closesConnection = true }

    /// The number of bytes of the body that were given to the daemon, or sent.
    var bytesSent: Int { stream?.bytesTaken ?? events?.bytesTaken ?? byteCount }

    /// Gives the response to the daemon, which sends it after this call.
    ///
    /// - Parameter connection: The connection in the library, which must not be suspended.
    /// - Returns: False when the library does not take the response; the connection has to be
    ///   closed then.
    func queue(on connection: OpaquePointer) -> Bool {
        guard let message = unsafe makeMessage(connection) else { return false }
        defer { unsafe MHD_destroy_response(message) }
        for field in response.headers { unsafe add(field, to: message) }
        if response.closesConnection { unsafe MHD_add_response_header(message, "Connection", "close") }
        return unsafe MHD_queue_response(connection, UInt32(response.status), message) == .YES
    }

    /// Adds a header field to a response object. The library copies both texts.
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

    /// Makes a response object for the kind of body that the response has; nil when the library has no memory.
    private func makeMessage(_ connection: OpaquePointer) -> OpaquePointer? {
        switch response.body {
        case .none:
            // The library gives a 304 the length of its body, here 0; the only other choice would close the connection.
            return unsafe MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(let buffer): return unsafe makeMessage(buffer)
        case .stream(let producer):
            // With a length, the library sends it in answer to HEAD, and asks for no content.
            if isBodyless, producer.completeByteCount == nil { return unsafe makeHeadOfStream() }
            let isUnframed = !isChunked && producer.completeByteCount == nil
            let stream = unsafe StreamBody(producer, of: client, connection, server, endingWith: isUnframed ? record : nil)
            self.stream = stream
            return unsafe stream.makeMessage()
        case .events(let source):
            let events = unsafe EventBody(source, connection, server, isChunked: isChunked)
            self.events = events
            return unsafe events.makeMessage()
        }
    }

    /// Makes the response to a `HEAD` request for a streamed body, whose length is not known:
    /// without a body and without framing.
    private func makeHeadOfStream() -> OpaquePointer? {
        let message = unsafe MHD_create_response_from_callback(UInt64.max, 1024, { _, _, _, _ in -1 }, nil, nil)
        if let message = unsafe message { unsafe realm_rest_send_without_framing(message) }
        return unsafe message
    }

    /// Makes a response object that sends directly from a buffer. The buffer is retained until the library frees the object.
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

/// Keeps the buffer of a response alive while libmicrohttpd sends from it.
///
/// The library holds one reference as the context of a response, and releases it, on any of its threads, when the response is no
/// longer needed.
private final class BufferInTransit {
    private let buffer: OutputBuffer
    /// The memory for unsent responses that the buffer uses; released with this object.
    private let holding: ByteHolding?

    /// Keeps a buffer, and the memory that is reserved for it, until the library releases this object.
    ///
    /// - Parameters:
    ///   - buffer: The complete body, which no longer changes.
    ///   - holding: The part of the memory for unsent responses that the buffer takes; nil for short or
    ///     shared bodies, which are not counted.
    init(_ buffer: OutputBuffer, _ holding: ByteHolding?) {
        self.buffer = buffer
        self.holding = holding
    }
}
