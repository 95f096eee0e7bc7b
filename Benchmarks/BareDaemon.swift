// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import MicroHTTP
internal import RealmFormats
internal import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

/// A server that is libmicrohttpd alone: it answers every request with the same bytes, which are prepared once.
///
/// It is the upper bound for the rate of any server built on this library with a response of
/// this size. `HTTPBenchmarks` compares the server with it.
///
/// `@unchecked Sendable`: nothing changes between `init` and `stop`.
@safe final class BareDaemon: @unchecked Sendable {
    /// The TCP port that it listens on.
    let port: Int
    /// The prepared response that every request receives.
    private let response: OpaquePointer
    /// The handle of the library; nil until it is started.
    private var daemon: OpaquePointer?

    /// Starts a server on a free port of the loopback address.
    ///
    /// - Parameter bodyByteCount: The size of the body of each response in bytes.
    /// - Throws: `BenchmarkError` when the library cannot start.
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

    /// The library calls this once for the header and once for the end of a request; the second call queues the response.
    private static let answer: MHD_AccessHandlerCallback = { context, connection, _, _, _, _, byteCount, slot in
        guard let context = unsafe context, let slot = unsafe slot else { return .NO }
        guard unsafe slot.pointee != nil else {
            unsafe slot.pointee = unsafe context
            return .YES
        }
        unsafe byteCount?.pointee = 0
        return unsafe MHD_queue_response(connection, 200, OpaquePointer(context))
    }

    /// Stops the server, and releases the response.
    func stop() {
        unsafe MHD_stop_daemon(daemon)
        unsafe MHD_destroy_response(response)
    }
}
