// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmHTTP
internal import RealmStorage

/// libmicrohttpd alone: answers every request with the same bytes, prepared once. The best that any server built on it
/// can do for an answer of this size.
///
/// `@unchecked Sendable`: nothing changes between `init` and `stop`.
@safe final class BareDaemon: @unchecked Sendable {
    let port: Int
    private let response: OpaquePointer
    private var daemon: OpaquePointer?

    init(bodyByteCount: Int) throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: bodyByteCount)
        // The library copies the bytes.
        let made = unsafe body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let made = unsafe made else { throw BenchmarkError.unsuitable("no response") }
        unsafe response = unsafe made
        _ = unsafe MHD_add_response_header(made, "Content-Type", "application/json")
        let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
        port = socket.port
        var options = unsafe realm_rest_daemon_options()
        unsafe options.context = unsafe UnsafeMutableRawPointer(made)
        unsafe options.handler = unsafe BareDaemon.answer
        unsafe options.listen_socket = socket.descriptor
        unsafe options.threads = UInt32(Threads.processorCount)
        unsafe options.connections = 1024
        unsafe options.idle_seconds = 60
        unsafe options.connection_memory = 32 << 10
        guard let daemon = unsafe realm_rest_start_daemon(&options) else { throw BenchmarkError.unsuitable("no daemon") }
        unsafe self.daemon = unsafe daemon
    }

    /// Called once for the head and once for the end of a request; the second time it is answered.
    private static let answer: MHD_AccessHandlerCallback = { context, connection, _, _, _, _, byteCount, slot in
        guard let context = unsafe context, let slot = unsafe slot else { return .NO }
        guard unsafe slot.pointee != nil else {
            unsafe slot.pointee = unsafe context
            return .YES
        }
        unsafe byteCount?.pointee = 0
        return unsafe MHD_queue_response(connection, 200, OpaquePointer(context))
    }

    func stop() {
        unsafe MHD_stop_daemon(daemon)
        unsafe MHD_destroy_response(response)
    }
}
