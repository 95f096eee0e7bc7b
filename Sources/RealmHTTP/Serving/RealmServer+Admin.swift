// SPDX-License-Identifier: Apache-2.0

extension RealmServer {
    /// Binds the administrators' listener; nil when there is none.
    static func bindAdmin(_ options: ServerOptions, main: ListeningSocket) throws(Failure) -> ListeningSocket? {
        do throws(ListeningSocket.Failure) {
            switch options.admin {
            case .none: return nil
            case .unix(let path): return try ListeningSocket(unixPath: path)
            case .port(let host, let port): return try adminPort(host, port)
            case .automatic:
                guard !main.isLoopback else { return nil }
                // A server on a port that was picked is one of several, and so are the administrators' ports.
                return try adminPort("127.0.0.1", options.port == 0 ? 0 : AdminAddress.usualPort)
            }
        } catch {
            throw Failure(
                description: "administration: \(error.description); --admin HOST:PORT, unix:PATH or none chooses another place")
        }
    }

    private static func adminPort(_ host: String, _ port: Int) throws(ListeningSocket.Failure) -> ListeningSocket {
        let socket = try ListeningSocket(host: host, port: port)
        guard socket.isLoopback else {
            socket.close()
            throw ListeningSocket.Failure(
                description:
                    "\(socket.address) can be reached from elsewhere, and there are no credentials yet: only loopback or a Unix socket will do"
            )
        }
        return socket
    }

    /// A small daemon of its own, so that whoever holds the connections of the main one does not hold these.
    static func adminDaemon(_ socket: ListeningSocket?, _ limits: Limits, _ handler: RequestDispatcher) -> HTTPServer? {
        guard let socket else { return nil }
        var configuration = HTTPServer.Configuration()
        configuration.entrance = socket.file == nil ? .adminPort : .adminSocket
        configuration.limits = limits
        configuration.limits.connections = limits.adminConnections
        configuration.limits.connectionsPerAddress = limits.adminConnections
        configuration.daemonThreads = 1
        var size = WorkerPool.Size(configuration.limits)
        size.threads = 2
        size.queue = limits.adminConnections
        return HTTPServer(
            socket: socket, configuration: configuration, workers: WorkerPool(name: "worker", size), handler: handler)
    }
}
