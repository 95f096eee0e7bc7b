// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The administrators' listener: a second, small HTTP server for requests that need the rights of an administrator.
///
/// It listens on a loopback port or on a Unix socket, and it does not depend on the connections and
/// workers of the main listener.
extension RealmServer {
    /// Binds the socket of the administrators' listener.
    ///
    /// With `AdminAddress.automatic` there is one only if the main listener can be reached from
    /// other machines: on loopback the main listener serves administrators itself.
    ///
    /// - Parameters:
    ///   - options: The options of the server, of which `admin` and `port` count.
    ///   - isLoopback: Whether only this machine can reach the listeners for clients, which are bound already.
    /// - Returns: The bound socket; nil when there is no such listener.
    /// - Throws: `Failure` when the address cannot be bound, or when it is not loopback.
    static func bindAdmin(_ options: ServerOptions, isLoopback: Bool) throws(Failure) -> ListeningSocket? {
        do throws(ListeningSocket.Failure) {
            if let handed = options.handedOver.first(where: { $0.isForAdministrators }) {
                return try checkedAdmin(ListeningSocket(handedOver: handed.descriptor))
            }
            switch options.admin {
            case .none: return nil
            case .unix(let path): return try ListeningSocket(unixPath: path)
            case .port(let host, let port): return try adminPort(host, port)
            case .automatic:
                guard !isLoopback else { return nil }
                // A server on a port that was picked is one of several, and so are the administrators' ports.
                return try adminPort("127.0.0.1", options.port == 0 ? 0 : AdminAddress.usualPort)
            }
        } catch {
            throw Failure(
                description: "administration: \(error.description); --admin HOST:PORT, unix:PATH or none chooses another place")
        }
    }

    /// Binds a TCP port for administrators. An address that other machines can reach is refused,
    /// because the listener checks no credentials.
    private static func adminPort(_ host: String, _ port: Int) throws(ListeningSocket.Failure) -> ListeningSocket {
        try checkedAdmin(ListeningSocket(host: host, port: port))
    }

    /// Returns a socket for administrators, and closes it if other machines can reach it.
    private static func checkedAdmin(_ socket: ListeningSocket) throws(ListeningSocket.Failure) -> ListeningSocket {
        guard socket.isLoopback else {
            socket.close()
            throw ListeningSocket.Failure(description: StartRefusal.adminExposure(of: socket.address))
        }
        return socket
    }

    /// Makes the HTTP server of the administrators' listener.
    ///
    /// It has its own daemon thread and two workers, so a client that occupies the main listener cannot keep administrators out.
    ///
    /// - Parameters:
    ///   - socket: The socket from `bindAdmin`, which the server takes over; nil for no listener.
    ///   - limits: The limits of the main listener. The number of connections is replaced by
    ///     `adminConnections`.
    ///   - handler: The dispatcher for the requests of both listeners.
    /// - Returns: The server, not yet started; nil without a socket.
    static func adminDaemon(_ socket: ListeningSocket?, _ limits: Limits, _ handler: RequestDispatcher) -> HTTPServer? {
        guard let socket else { return nil }
        var configuration = HTTPServer.Configuration()
        configuration.listenerKind = socket.isUnix ? .adminSocket : .adminPort
        configuration.limits = limits.http
        configuration.spooling = limits.spool
        configuration.limits.connections = limits.http.adminConnections
        configuration.limits.connectionsPerAddress = limits.http.adminConnections
        configuration.daemonThreads = 1
        var size = WorkerPool.Size(limits)
        size.threads = 2
        size.queue = limits.http.adminConnections
        return HTTPServer(
            socket: socket, configuration: configuration, workers: WorkerPool(name: "worker", size), handler: handler)
    }
}
