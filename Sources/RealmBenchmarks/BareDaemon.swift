// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import RealmHTTP
internal import RealmStorage

/// libmicrohttpd alone: answers every request with the same bytes, prepared once. The best that any server built on it
/// can do for an answer of this size.
///
/// `@unchecked Sendable`: nothing changes between `init` and `stop`.
final class BareDaemon: @unchecked Sendable {
    let port: Int
    private let response: OpaquePointer
    private var daemon: OpaquePointer?

    init(bodyByteCount: Int) throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: bodyByteCount)
        // The library copies the bytes.
        let made = body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let made else { throw BenchmarkError.unsuitable("no response") }
        response = made
        _ = MHD_add_response_header(made, "Content-Type", "application/json")
        let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
        port = socket.port
        var options = realm_rest_daemon_options()
        options.context = UnsafeMutableRawPointer(made)
        options.handler = BareDaemon.answer
        options.listen_socket = socket.descriptor
        options.threads = UInt32(Threads.processorCount)
        options.connections = 1024
        options.idle_seconds = 60
        options.connection_memory = 32 << 10
        guard let daemon = realm_rest_start_daemon(&options) else { throw BenchmarkError.unsuitable("no daemon") }
        self.daemon = daemon
    }

    /// Called once for the head and once for the end of a request; the second time it is answered.
    private static let answer: MHD_AccessHandlerCallback = { context, connection, _, _, _, _, byteCount, slot in
        guard let context, let slot else { return .NO }
        guard slot.pointee != nil else {
            slot.pointee = context
            return .YES
        }
        byteCount?.pointee = 0
        return MHD_queue_response(connection, 200, OpaquePointer(context))
    }

    func stop() {
        MHD_stop_daemon(daemon)
        MHD_destroy_response(response)
    }
}
