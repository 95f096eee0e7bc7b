// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc

/// The functions libmicrohttpd calls. Their contexts are unmanaged references:
/// the server (retained by `start` until the daemon has stopped), a connection's record and a request's exchange (retained from the
/// first to the last callback about them).
enum DaemonCallbacks {
    /// The options of a daemon that calls `server`. They do not retain it: `HTTPServer.start` does.
    static func options(for server: HTTPServer) -> realm_rest_daemon_options {
        var options = unsafe realm_rest_daemon_options()
        unsafe options.context = unsafe Unmanaged.passUnretained(server).toOpaque()
        unsafe options.accept = unsafe accept
        unsafe options.handler = unsafe handle
        unsafe options.target = unsafe begin
        unsafe options.completed = unsafe complete
        unsafe options.connection_changed = unsafe connectionChanged
        unsafe options.refused = unsafe refused
        return unsafe options
    }

    private static func server(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
        unsafe context.map { unsafe Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// A server that stops lets nobody in, and a client only so many connections.
    private static let accept: MHD_AcceptPolicyCallback = { context, address, _ in
        guard let server = unsafe server(context), !server.isDraining else { return .NO }
        return unsafe server.connections.admits(ClientName.of(address)) ? .YES : .NO
    }

    private static let connectionChanged: MHD_NotifyConnectionCallback = { context, connection, slot, event in
        guard let server = unsafe server(context), let slot = unsafe slot, let connection = unsafe connection else { return }
        switch event {
        case .CONNECTION_NOTIFY_STARTED:
            let socketAddress = unsafe realm_rest_client_address(connection)
            let record = unsafe server.connections.add(
                descriptor: realm_rest_connection_socket(connection),
                address: socketAddress.flatMap { unsafe SocketAddress.nameAndPort($0) }?.0 ?? "",
                client: unsafe ClientName.of(socketAddress))
            unsafe slot.pointee = unsafe Unmanaged.passRetained(record).toOpaque()
        default:
            guard let pointer = unsafe slot.pointee else { return }
            unsafe slot.pointee = nil
            unsafe server.connections.remove(Unmanaged<ConnectionRecord>.fromOpaque(pointer).takeRetainedValue())
        }
    }

    /// The library found a mistake in a request, and is about to answer it with a page of its own, or with two.
    private static let refused: @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void = { context, status in
        unsafe server(context)?.connections.reading(on: pthread_self())?.refuse(Problem(refusedByDaemon: Int(status)))
    }

    /// The first line of a request is there.
    private static let begin:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
        ) -> UnsafeMutableRawPointer? = { context, target, connection in
            guard let server = unsafe server(context), let connection = unsafe connection,
                let record = unsafe realm_rest_connection_context(connection)
            else { return nil }
            let bytes = unsafe target.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } ?? []
            let exchange = unsafe Exchange(
                server: server, connection: connection,
                record: Unmanaged<ConnectionRecord>.fromOpaque(record).takeUnretainedValue(), target: bytes,
                targetAddress: UInt(bitPattern: target))
            // The library would want more memory for so many parameters than it has, and then say nothing more.
            if bytes.count > Exchange.parameterLimit, bytes.count(where: { $0 == UInt8(ascii: "&") }) > Exchange.parameterLimit {
                exchange.refuseTarget()
            }
            return unsafe Unmanaged.passRetained(exchange).toOpaque()
        }

    /// Called when the head is complete, for every piece of the body, at its end, and after a resumption.
    private static let handle: MHD_AccessHandlerCallback = { _, _, _, method, version, data, byteCount, slot in
        guard let pointer = unsafe slot?.pointee, let method = unsafe method, let byteCount = unsafe byteCount else { return .NO }
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        let count = unsafe byteCount.pointee
        let piece = unsafe UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
        unsafe byteCount.pointee = 0
        return unsafe exchange.advance(method: method, version: version, piece: piece) ? .YES : .NO
    }

    private static let complete: MHD_RequestCompletedCallback = { _, _, slot, reason in
        guard let slot = unsafe slot, let pointer = unsafe slot.pointee else { return }
        unsafe slot.pointee = nil
        unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().end(
            isComplete: reason == .REQUEST_TERMINATED_COMPLETED_OK)
    }
}
