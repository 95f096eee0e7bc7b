// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import CTLS
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The functions that libmicrohttpd calls, on the threads of the daemon.
///
/// Their contexts are unmanaged references. A listener retains its threads until they have stopped; the record of a connection
/// and the exchange of a request are retained here from the first to the last callback about them.
enum DaemonCallbacks {
    /// Returns the options of a daemon whose callbacks serve a listener.
    ///
    /// - Parameter thread: The daemon's thread. The options do not retain it: its listener does.
    static func options(for thread: DaemonThread) -> realm_rest_daemon_options {
        var options = unsafe realm_rest_daemon_options()
        unsafe options.context = unsafe Unmanaged.passUnretained(thread).toOpaque()
        unsafe options.accept = unsafe accept
        unsafe options.handler = unsafe handle
        unsafe options.target = unsafe begin
        unsafe options.completed = unsafe complete
        unsafe options.connection_changed = unsafe connectionChanged
        unsafe options.refused = unsafe refused
        if thread.server.configuration.tls != nil {
            unsafe realm_rest_set_callbacks(TLSConnection.choice, TLSConnection.plain)
            unsafe options.certificate = unsafe realm_rest_certificate_callback()
        }
        return unsafe options
    }

    /// Returns the daemon's thread that a context points to.
    private static func thread(_ context: UnsafeMutableRawPointer?) -> DaemonThread? {
        unsafe context.map { unsafe Unmanaged<DaemonThread>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns the listener whose connections the thread that a context points to serves.
    private static func server(_ context: UnsafeMutableRawPointer?) -> HTTPServer? { unsafe thread(context)?.server }

    /// Called by the acceptor for each new socket before the library sets up a connection on it. A server that is
    /// stopping accepts none, and each client has only so many.
    private static let accept: MHD_AcceptPolicyCallback = { context, address, _ in
        guard let server = unsafe server(context), !server.isDraining else { return .NO }
        let client = unsafe server.isTrustedProxy(SocketAddress.name(address)) ? "" : ClientName.of(address)
        return server.connections.admits(client) ? .YES : .NO
    }

    /// Called when a connection is taken and when it is closed; makes its record and releases it.
    private static let connectionChanged: MHD_NotifyConnectionCallback = { context, connection, slot, event in
        guard let thread = unsafe thread(context), let slot = unsafe slot, let connection = unsafe connection else { return }
        let server = thread.server
        switch event {
        case .CONNECTION_NOTIFY_STARTED:
            let record = unsafe server.connections.add(arrival(of: connection, thread))
            unsafe slot.pointee = unsafe Unmanaged.passRetained(record).toOpaque()
        default:
            guard let pointer = unsafe slot.pointee else { return }
            unsafe slot.pointee = nil
            thread.noteEnd()
            unsafe server.connections.remove(Unmanaged<ConnectionRecord>.fromOpaque(pointer).takeRetainedValue())
        }
    }

    /// Returns the facts about a connection that was just made.
    private static func arrival(of connection: OpaquePointer, _ thread: DaemonThread) -> ConnectionArrival {
        let server = thread.server
        let socketAddress = unsafe realm_rest_client_address(connection)
        let address = unsafe SocketAddress.name(socketAddress)
        var arrival = unsafe ConnectionArrival(
            descriptor: realm_rest_connection_socket(connection), address: address, listener: ObjectIdentifier(server),
            resumptions: thread.resumptions)
        if !server.isTrustedProxy(address) { arrival.client = unsafe ClientName.of(socketAddress) }
        arrival.isUnix = server.socket.isUnix
        arrival.memo = server.handler.makeMemo()
        if let store = server.configuration.tls, let session = unsafe realm_rest_connection_session(connection) {
            arrival.tls = unsafe TLSConnection(session, store)
        }
        return arrival
    }

    /// Called when the library has found an error in a request, sometimes twice for one request. The server responds before the
    /// library sends its own page.
    private static let refused: @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void = { context, status in
        unsafe server(context)?.connections.reading(on: pthread_self())?.refuse(Problem(refusedByDaemon: Int(status)))
    }

    /// Called when the first line of a request has been received; makes the exchange.
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
            // The library would need more memory for so many parameters than it has, and would then
            // close the connection without a response.
            if bytes.count > Exchange.parameterLimit, bytes.count(where: { $0 == UInt8(ascii: "&") }) > Exchange.parameterLimit {
                exchange.refuseTarget()
            }
            return unsafe Unmanaged.passRetained(exchange).toOpaque()
        }

    /// Called when the header section is complete, for every piece of the body, at the end of the
    /// body, and after the connection was resumed.
    private static let handle: MHD_AccessHandlerCallback = { _, _, _, method, version, data, byteCount, slot in
        guard let pointer = unsafe slot?.pointee, let method = unsafe method, let byteCount = unsafe byteCount else { return .NO }
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        let count = unsafe byteCount.pointee
        let piece = unsafe UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
        unsafe byteCount.pointee = 0
        return unsafe exchange.advance(method: method, version: version, piece: piece) ? .YES : .NO
    }

    /// Called when a response was sent or the connection broke; ends and releases the exchange.
    private static let complete: MHD_RequestCompletedCallback = { context, connection, slot, reason in
        guard let slot = unsafe slot, let pointer = unsafe slot.pointee else { return }
        unsafe slot.pointee = nil
        unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().end(
            isComplete: reason == .REQUEST_TERMINATED_COMPLETED_OK)
        guard reason == .REQUEST_TERMINATED_WITH_ERROR, let connection = unsafe connection else { return }
        // After a failed body the library closes the connection only at its next check. Each turn checks all connections with a
        // time limit of their own, and of the others only the one that has been idle for longest.
        unsafe realm_rest_set_timeout(connection, 0)
        unsafe thread(context)?.wake()
    }
}

/// The name under which connections and work of one client are counted together. Without credentials, an address is a client.
///
/// One IPv6 subscriber controls all addresses that begin with the same 64 bits, so these count as one client.
private enum ClientName {
    /// Returns the name of the client at a socket address.
    ///
    /// - Parameter address: The address of a peer; nil or another family for a Unix socket.
    /// - Returns: An IPv4 address as text, the first 64 bits of an IPv6 address with `::/64` after
    ///   them, or an empty text for every other peer.
    static func of(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address = unsafe address, let name = unsafe SocketAddress.nameAndPort(address)?.0 else { return "" }
        guard unsafe realm_rest_address_family(address) == AF_INET6 else { return name }
        // A socket for both families shows IPv4 addresses in the form ::ffff:a.b.c.d.
        if name.hasPrefix("::ffff:"), name.contains(".") { return String(name.dropFirst(7)) }
        return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
            unsafe withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                unsafe bytes.prefix(8).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() + "::/64"
            }
        }
    }
}
